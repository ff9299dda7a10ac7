"""How much memory the driver gets if nobody says."""

import os
from pathlib import Path

import pytest

from falkirk.runtime import memory, session


def test_a_container_counts_and_not_the_machine_around_it(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    machine = memory.machine_bytes(limit)
    assert machine > 0
    limit.write_text("max\n")
    assert memory.machine_bytes(limit) == machine
    limit.write_text("1000000\n")
    assert memory.machine_bytes(limit) == 1_000_000
    assert memory.driver_memory(limit) == "1024m", "Spark's own default is the least"


def test_where_nobody_can_tell_spark_has_its_own_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", unknown)
    assert memory.driver_memory(tmp_path / "none") == "1024m"


@pytest.mark.parametrize("said", ["", "7g"])
def test_what_somebody_says_stays(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "somewhere")
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", said)
    if not said:
        monkeypatch.delenv("SPARK_DRIVER_MEMORY")
    session.prepare_environment()
    assert os.environ["SPARK_DRIVER_MEMORY"] == (said or memory.driver_memory())
