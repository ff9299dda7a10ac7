"""One Spark session for all the tests of this folder."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.servers.jars import NoJars, jars

from falkirk.runtime.java import find_java_home
from falkirk.runtime.session import RUNTIME_DEFAULTS
from falkirk.runtime.startup import java_options


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that takes everything Spark writes by itself."""
    return tmp_path_factory.mktemp("spark")


SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""A JVM that runs small jobs for minutes has no time to be compiled well. But it runs those of a
thousand tests, and the room for code would be a fifth of the usual with one compiler: Spark ends
when it is full."""


@pytest.fixture(scope="session")
def spark(spark_folder: Path) -> Iterator[SparkSession]:
    """A local session of two cores that listens on loopback alone and leaves nothing behind."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", str(find_java_home()))
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        environment.setenv("SPARK_LOCAL_DIRS", str(spark_folder / "local"))
        session = (
            SparkSession.builder.master("local[2]")
            .appName("falkirk-tests")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config(
                "spark.driver.extraJavaOptions", f"{SHORT_LIVED} -Djava.io.tmpdir={spark_folder}"
            )
            .config("spark.driver.defaultJavaOptions", " ".join(java_options("local[2]")))
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", str(spark_folder / "warehouse"))
            .config("spark.jars", ",".join(connector_jars()))
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        for key, value in RUNTIME_DEFAULTS.items():
            session.conf.set(key, value)
        yield session
        session.stop()


def connector_jars() -> list[str]:
    """Spark's Kafka connector and Delta's kernel; without one only what needs it is skipped."""
    found = []
    for each in ("spark", "delta"):
        with suppress(NoJars):
            found += [str(jar) for jar in jars(each)]
    return found
