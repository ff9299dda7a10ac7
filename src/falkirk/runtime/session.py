"""Starts Spark for a flow, on any master, with the settings that small frequent jobs want."""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from falkirk.core.errors import ConfigurationError
from falkirk.runtime.hearing import Hearing
from falkirk.runtime.java import find_java_home
from falkirk.runtime.masters import CONNECT
from falkirk.runtime.memory import driver_memory
from falkirk.runtime.sizes import check_sizes
from falkirk.runtime.starting import check_start, starting
from falkirk.runtime.startup import java_options

DEFAULTS: Mapping[str, str] = {
    # Planning again at run time costs more than a small job takes.
    "spark.sql.adaptive.enabled": "false",
    # What is in one partition is joined there. Spark takes a join to be as large as the product of
    # its sides, so it would shuffle from the third small one on.
    "spark.sql.maxSinglePartitionBytes": str(2**63 - 1),
    # Of a larger table Spark would make a Java object for each row, and work on them one by one
    # while it plans. So rows stay columns until tasks read them.
    "spark.sql.execution.arrow.localRelationThreshold": "256KB",
    # A copy of a task must not write what the first one has written.
    "spark.speculation": "false",
    # A small task had better read from afar than wait for its place.
    "spark.locality.wait": "0s",
    "spark.scheduler.mode": "FAIR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A flow runs for ever, so what Spark remembers of its jobs is kept short.
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.sql.ui.retainedExecutions": "20",
}

NO_MEMORY = "-XX:+ExitOnOutOfMemoryError"
"""A JVM without memory ends. If it lived on with fewer threads, jobs might wait for ever."""

LOCAL_CLUSTER = "local-cluster"
"""A master whose executors are processes of this machine."""

LAUNCHER_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Spark starts a JVM only to put together the command that starts another."""

RUNTIME_DEFAULTS = {
    key: DEFAULTS[key]
    for key in (
        "spark.sql.adaptive.enabled",
        "spark.sql.maxSinglePartitionBytes",
        "spark.sql.execution.arrow.localRelationThreshold",
        "spark.sql.session.timeZone",
    )
}
"""What a session can still set on a server that is already running."""


def start_session(
    name: str, master: str = "local[*]", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """A session on ``master``; ``settings`` go before the defaults.

    A master ``sc://host:port`` is a Spark Connect server, every other one is Spark's own. Where it
    cannot be started the error has Spark's own word for it.
    """
    given = settings or {}
    if master.startswith(CONNECT):
        check_connect()
    check_start(master, given)
    builder: Any = SparkSession.builder.appName(name)
    if master.startswith(CONNECT):
        with starting(master, given):
            return ready(builder.remote(master), {**RUNTIME_DEFAULTS, **given})
    prepare_environment()
    chosen = {**DEFAULTS, **local_settings(master), **java_settings(master), **given}
    hearing = Hearing() if SparkContext._gateway is None else None
    with starting(master, given, hearing):
        if hearing is not None:
            launch(hearing, {**chosen, "spark.master": master, "spark.app.name": name})
        return ready(builder.master(master), chosen)


def launch(hearing: Hearing, chosen: Mapping[str, str]) -> None:
    """Starts a JVM, and the context that sessions then find there; ``hearing`` is told all."""
    conf = SparkConf().setAll(list(chosen.items()))
    try:
        gateway = launch_gateway(  # type: ignore[no-untyped-call]
            conf, {"stderr": hearing.writing}
        )
    finally:
        hearing.handed_over()
    SparkContext(conf=conf, gateway=gateway)


def ready(builder: Any, chosen: Mapping[str, str]) -> SparkSession:
    """A session that has read its settings: what is wrong with them is known now, not later."""
    for key, value in chosen.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    try:
        session.conf.get("spark.sql.session.timeZone")
    except Exception:
        with suppress(Exception):
            session.stop()
        raise
    return session


def prepare_environment() -> None:
    """Points Spark at the Java that was found to fit, and at this very Python unless others did.

    Its memory is that of the environment, which every setting of Spark's goes before.
    """
    os.environ["JAVA_HOME"] = str(find_java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", LAUNCHER_OPTIONS)
    os.environ.setdefault("SPARK_DRIVER_MEMORY", driver_memory())
    if memory := os.environ["SPARK_DRIVER_MEMORY"]:
        check_sizes({"SPARK_DRIVER_MEMORY": memory})


def local_settings(master: str) -> dict[str, str]:
    """On this machine alone, Spark listens on loopback and shuffles into few partitions."""
    if not is_local(master):
        return {}
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if master.startswith(LOCAL_CLUSTER):
        os.environ.setdefault("SPARK_HOME", str(temporary_spark_home()))
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
    }


def java_settings(master: str) -> dict[str, str]:
    """What the JVMs are started with: the driver's, and those of executors on this machine."""
    archive = java_options(master)
    settings = {"spark.driver.defaultJavaOptions": " ".join((NO_MEMORY, *archive))}
    if archive and master.startswith(LOCAL_CLUSTER):
        settings["spark.executor.defaultJavaOptions"] = " ".join(archive)
    return settings


def is_local(master: str) -> bool:
    """Whether everything runs on this machine.

    >>> [is_local(m) for m in ("local[*]", "spark://127.0.0.1:7077", "spark://example:7077")]
    [True, True, False]
    """
    return master.startswith(("local", "spark://127.0.0.1:", "spark://localhost:"))


def is_connect(session: Any) -> bool:
    """Whether the session talks to a Spark Connect server."""
    return ".connect." in type(session).__module__


def check_connect() -> None:
    """Refuses Spark Connect where the packages that it needs are missing."""
    try:
        from pyspark.sql.connect.utils import check_dependencies

        check_dependencies()
    except ImportError as error:
        raise ConfigurationError(
            f"Spark Connect needs more packages: {error}. Next: pip install 'falkirk[connect]'"
        ) from error


def temporary_spark_home() -> Path:
    """A ``SPARK_HOME`` of links that goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="falkirk-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return spark_home(folder)


def spark_home(folder: Path) -> Path:
    """A ``SPARK_HOME`` of links in ``folder``, for ``local-cluster`` writes beside its jars."""
    import pyspark

    home = folder / "spark-home"
    home.mkdir(parents=True, exist_ok=True)
    for entry in Path(pyspark.__file__).parent.iterdir():
        link = home / entry.name
        if entry.name != "work" and not link.exists():
            link.symlink_to(entry)
    return home
