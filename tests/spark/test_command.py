"""``falkirk run`` as a person at a terminal uses it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pyarrow.dataset as ds
import pytest

pytestmark = pytest.mark.spark

APP = """
import falkirk as fk
from falkirk.connectors import Numbers, ParquetSink

flow = fk.Dataflow("numbers")
numbers = flow.read(Numbers(rows={rows}, rows_per_epoch=10), name="numbers")
totals = numbers.group_by("value % 2 AS parity").agg(n="count(*)", policy=fk.lazy(every=2))
totals.write(ParquetSink("out"), name="totals")
"""
FAST = ("--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")


class Commands:
    """Starts commands in one folder, and at its end ends those that are still running.

    With ``app`` there is a flow that they may run.
    """

    def __init__(self, folder: Path, app: str = "") -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []
        if app:
            (folder / "app.py").write_text(app)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts the command in a process group of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "falkirk", *arguments],
            cwd=self.folder,
            env={**os.environ, "SPARK_LOCAL_DIRS": str(self.folder / "local")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """Kills what is left, with its Java."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Commands that do not outlive the test."""
    with Commands(tmp_path) as found:
        yield found


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits until something is there, as long as the process lives."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)


def counted(folder: Path) -> list[int]:
    """How many numbers of each parity were counted at the end."""
    table = ds.dataset(folder / "out", partitioning="hive").to_table()
    final = {r["parity"]: r["n"] for r in sorted(table.to_pylist(), key=lambda r: r["epoch"])}
    return [final[0], final[1]]


def test_sigterm_stops_cleanly_a_live_store_is_refused_and_a_bounded_flow_ends(
    commands: Commands, tmp_path: Path
) -> None:
    """One after the other on one store: each start of the command is a JVM."""
    app = tmp_path / "app.py"
    app.write_text(APP.format(rows=None))
    run = ("run", "app.py", "--store", "state", "--master", "local[2]", *FAST)
    first = commands.start(*run)
    wait_for(lambda: (tmp_path / "out" / "epoch=3").exists(), first)

    second = commands.start(*run)
    _, err = second.communicate(timeout=200)
    assert second.returncode == 2
    assert f"in use by process {first.pid}" in err
    assert err.count("\n") == 1

    first.send_signal(signal.SIGTERM)
    _, err = first.communicate(timeout=200)
    assert first.returncode == 0, err
    epochs = len(list((tmp_path / "out").glob("epoch=*")))
    assert sum(counted(tmp_path)) == 10 * epochs

    app.write_text(APP.format(rows=10 * epochs + 20))
    third = commands.start(*run)
    out, err = third.communicate(timeout=200)
    assert third.returncode == 0, err
    assert out.startswith("done")
    assert counted(tmp_path) == [5 * epochs + 10] * 2


def test_a_mistake_is_one_line_that_names_the_place(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import falkirk as fk\nflow = fk.Dataflow('empty')\n")
    command = commands.start("run", "app.py", "--store", "state")
    _, err = command.communicate(timeout=60)
    assert command.returncode == 2
    assert "app.py:2" in err
    assert err.count("\n") == 1


def test_what_spark_does_not_start_with_is_one_line_in_its_own_words(
    commands: Commands, tmp_path: Path
) -> None:
    """The JVM says why it does not, and a stack trace beside; both are kept back."""
    (tmp_path / "app.py").write_text(APP.format(rows=10))
    (tmp_path / "falkirk.toml").write_text('[spark]\n"spark.executor.cores" = "many"\n')
    command = commands.start("run", "app.py", "--store", "state", "--master", "local[2]")
    _, err = command.communicate(timeout=60)
    assert command.returncode == 2
    assert "[FK500] Spark did not start: Executor cores must be a positive number" in err
    assert "spark.executor.cores (falkirk.toml [spark])" in err
    assert err.count("\n") == 1


def test_a_setting_of_sql_is_refused_at_the_start_and_not_by_the_first_job(
    commands: Commands, tmp_path: Path
) -> None:
    """Then a source would be blamed, after ten seconds of trying."""
    (tmp_path / "app.py").write_text(APP.format(rows=10))
    run = ("run", "app.py", "--store", "state", "--master", "local[2]", *FAST)
    command = commands.start(*run, "--conf", "spark.sql.shuffle.partitions=lots")
    _, err = command.communicate(timeout=60)
    assert command.returncode == 2
    assert "Spark did not start: [INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'lots'" in err
    assert "mend spark.sql.shuffle.partitions (--conf)" in err
    assert err.count("\n") == 1


def test_a_java_home_that_is_none_does_no_harm_and_a_typo_in_a_column_is_told_at_once(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    app = APP.format(rows=10).replace("numbers.group_by", "numbers.where('vaule > 3').group_by")
    (tmp_path / "app.py").write_text(app)
    command = commands.start("run", "app.py", "--store", "state", "--master", "local[2]", *FAST)
    _, err = command.communicate(timeout=200)
    assert command.returncode == 2
    assert "again in" not in err
    assert "SQLQueryContextLogger" not in err
    told = [line for line in err.splitlines() if "vaule" in line]
    assert len(told) == 1
    assert told[0].startswith("falkirk: [FK600] app.py:7: 'where' failed at time (0,)")
