"""Spark's JVM ends under a run: it says so, blames nobody's code, and the next run goes on."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark.test_command import FAST, Commands, counted, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.spark]

ROWS = 400
APP = f"""
import os

import falkirk as fk
from falkirk.connectors import Numbers, ParquetSink


def hungry(frame):
    times = 500_000_000 if "HUNGRY" in os.environ else 1
    return frame.where(f"length(repeat('xx', if(value = 55, {{times}}, 1))) > 0")


flow = fk.Dataflow("numbers")
numbers = flow.read(Numbers(rows={ROWS}, rows_per_epoch=10), name="numbers")
policy = fk.lazy().setting_aside()
eaten = numbers.transform(hungry, whole=True, name="hungry", policy=policy)
totals = eaten.group_by("value % 2 AS parity").agg(n="count(*)", policy=policy)
totals.write(ParquetSink("out"), name="totals")
"""
RUN = ("run", "app.py", "--store", "state", "--master", "local[2]", *FAST)
OUTAGE = 4


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Commands that do not outlive the test, and the flow that they run."""
    with Commands(tmp_path, APP) as found:
        yield found


def goes_on(commands: Commands) -> None:
    """The next run ends as if nothing had happened; no batch was set aside."""
    process = commands.start(*RUN)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "set aside" not in out
    assert counted(commands.folder) == [ROWS // 2] * 2


def test_a_jvm_without_memory_ends_and_says_what_to_do(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row asks for a gigabyte, and there is half of that."""
    monkeypatch.setenv("HUNGRY", "yes")
    process = commands.start(*RUN, "--conf", "spark.driver.memory=512m")
    out, err = process.communicate(timeout=300)
    assert process.returncode == OUTAGE, (out, err)
    assert "FK610" in err
    assert "ran out of memory" in err
    assert "spark.driver.memory" in err
    assert "set aside" not in out + err
    monkeypatch.delenv("HUNGRY")
    goes_on(commands)


def test_a_jvm_that_is_killed_is_not_the_fault_of_a_processor(
    commands: Commands, tmp_path: Path
) -> None:
    process = commands.start(*RUN)
    wait_for(lambda: (tmp_path / "out" / "epoch=3").exists(), process)
    os.kill(java_of(process), signal.SIGKILL)
    out, err = process.communicate(timeout=300)
    assert process.returncode == OUTAGE, (out, err)
    assert "the JVM of Spark has ended with status -9" in err
    assert "set aside" not in out + err
    goes_on(commands)


def java_of(process: subprocess.Popen[str]) -> int:
    """The JVM that a command has started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    (found,) = [
        child for child in children if Path(f"/proc/{child}/comm").read_text().strip() == "java"
    ]
    return int(found)
