"""What a session is started with on each kind of master."""

import builtins
import os
from pathlib import Path
from typing import Any

import pytest

from falkirk.core.errors import ConfigurationError
from falkirk.runtime import session
from falkirk.runtime.java import find_java_home


def test_a_task_runs_once() -> None:
    assert session.DEFAULTS["spark.speculation"] == "false"


@pytest.mark.parametrize(
    ("master", "local"),
    [
        ("local", True),
        ("local[*]", True),
        ("local-cluster[2,1,1024]", True),
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://example:7077", False),
        ("yarn", False),
    ],
)
def test_only_what_stays_on_this_machine_listens_on_loopback(
    master: str, local: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", "somewhere")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    assert session.is_local(master) is local
    assert ("spark.driver.host" in session.local_settings(master)) is local


def test_a_local_cluster_does_not_write_beside_the_jars(tmp_path: Path) -> None:
    home = session.spark_home(tmp_path)
    assert (home / "jars").is_symlink()
    assert not (home / "work").exists()
    assert session.spark_home(tmp_path) == home


@pytest.mark.parametrize(
    ("master", "archive", "executors"),
    [("local-cluster[2,1,1024]", ("-XX:A",), True), ("local[2]", ("-XX:A",), False),
     ("local-cluster[2,1,1024]", (), False)],
)  # fmt: skip
def test_the_executors_of_a_local_cluster_start_from_the_archive_too(
    master: str, archive: tuple[str, ...], executors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "java_options", lambda _: archive)
    found = session.java_settings(master)
    assert found["spark.driver.defaultJavaOptions"] == " ".join((session.NO_MEMORY, *archive))
    assert found.get("spark.executor.defaultJavaOptions") == ("-XX:A" if executors else None)


def test_spark_runs_on_the_java_that_was_found_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not on the one in the environment, which does not run."""
    for name in ("JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LAUNCHER_OPTS"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "1g")
    session.prepare_environment()
    assert Path(os.environ["JAVA_HOME"]) == find_java_home()
    assert Path(os.environ["JAVA_HOME"], "bin", "java").is_file()


def test_memory_in_the_environment_must_be_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "lots")
    with pytest.raises(ConfigurationError, match="SPARK_DRIVER_MEMORY is 'lots'"):
        session.prepare_environment()


@pytest.mark.parametrize(
    ("master", "settings", "words"),
    [
        ("loco[2]", {}, "'loco[2]' is no master of Spark"),
        ("local[2]", {"spark.driver.memory": "lots"}, "spark.driver.memory is 'lots'"),
    ],
)
def test_what_cannot_start_is_refused_before_a_jvm_is_started(
    master: str, settings: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "launch", lambda *_: pytest.fail("a JVM was started"))
    with pytest.raises(ConfigurationError) as refused:
        session.start_session("flow", master, settings)
    assert words in str(refused.value)


def test_connect_without_its_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_connect(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pyspark.sql.connect.utils":
            raise ImportError("No module named 'grpc'")
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_connect)
    with pytest.raises(ConfigurationError, match=r"grpc.*pip install 'falkirk\[connect\]'"):
        session.start_session("flow", "sc://127.0.0.1:1")
