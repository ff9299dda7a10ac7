"""Starts what a master needs: a standalone cluster or a Spark Connect server, on loopback."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from falkirk.runtime.java import find_java_home
from falkirk.runtime.session import spark_home

SECONDS_MAX = 120
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
SUBMIT = "org.apache.spark.deploy.SparkSubmit"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def prepared(kind: str, folder: Path, behind: str = "local[2]") -> Iterator[str]:
    """The address of a master of one kind; what was started for it is ended afterwards.

    ``behind`` is where a Spark Connect server runs its jobs.
    """
    with ExitStack() as started:
        port = free_port()
        if kind == "standalone":
            address = f"spark://127.0.0.1:{port}"
            where = ("--host", "127.0.0.1", "--webui-port", "0")
            started.enter_context(spark_class(folder, "master", MASTER, *where, "-p", str(port)))
            wait_for(port)
            for number in range(2):
                name = f"worker-{number}"
                mine = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / name))
                started.enter_context(spark_class(folder, name, WORKER, *where, *mine, address))
            yield address
        elif kind == "connect":
            settings = [
                f"spark.connect.grpc.binding.port={port}",
                "spark.connect.grpc.binding.address=127.0.0.1",
                "spark.driver.bindAddress=127.0.0.1",
                "spark.driver.host=127.0.0.1",
                "spark.sql.shuffle.partitions=2",
                "spark.ui.enabled=false",
            ]
            chosen = [word for setting in settings for word in ("--conf", setting)]
            started.enter_context(
                spark_class(
                    *(folder, "server", SUBMIT, "--class", CONNECT, "--master", behind),
                    *(*chosen, "spark-internal"),
                )
            )
            wait_for(port)
            yield f"sc://127.0.0.1:{port}"
        else:
            yield kind


@contextmanager
def spark_class(folder: Path, name: str, *arguments: str) -> Iterator[None]:
    """Runs one of Spark's own programs until the end of the context."""
    home = spark_home(folder)
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            env=environment(folder) | {"SPARK_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def environment(folder: Path) -> dict[str, str]:
    """What Spark's programs find: this Java, this Python, loopback, and a place for their files."""
    return {
        **os.environ,
        "JAVA_HOME": str(find_java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "TMPDIR": str(folder),
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    """Waits until somebody listens."""
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
