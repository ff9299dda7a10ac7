"""A newcomer's way: a project of one's own, run, looked at, killed and run again."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.spark.test_command import FAST, Commands, wait_for

import falkirk as fk
from falkirk.cli.main import cli
from falkirk.dataflow.description import about, describe
from falkirk.inspection.look import look_at
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared, run
from falkirk.runtime.watching import Watcher
from falkirk.store import open_store
from falkirk.testing.script import Remembered, Script

pytestmark = pytest.mark.spark

EPOCHS = [[{"item": "tea", "amount": n}] for n in range(10)]


def answer(*arguments: str, folder: Path) -> dict:
    """What a command says of a project, as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "falkirk", *arguments, "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict = json.loads(done.stdout)
    return found


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Commands that do not outlive the test."""
    with Commands(tmp_path) as found:
        yield found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What ``falkirk init`` makes."""
    CliRunner().invoke(cli, ["init", str(tmp_path)], catch_exceptions=False)
    return tmp_path


def sold(project: Path) -> dict[str, int]:
    table = ds.dataset(project / "out", partitioning="hive").to_table()
    rows = sorted(table.to_pylist(), key=lambda row: row["epoch"])
    return {row["item"]: row["sold"] for row in rows}


def test_a_new_project_runs_and_answers_all_questions(project: Path, commands: Commands) -> None:
    for name in ("first", "again"):  # a second run has nothing to do, and changes nothing
        process = commands.start("run", *FAST)
        out, err = process.communicate(timeout=200)
        assert process.returncode == 0, (name, err)
        assert out == "done: 0 recoveries\n", name
        assert sold(project) == {"tea": 6, "jam": 1, "bread": 5}
    status = answer("status", folder=project)
    assert status["lease"]["state"] == "free"
    (reached,) = {row["watermark"]["words"] for row in status["processors"]}
    assert [each["released"]["words"] for each in status["outputs"]] == [reached]
    assert answer("explain", folder=project)["roots"] == []
    fates = answer("what-if", "--fail", "totals", folder=project)["fates"]
    assert {each["processor"]: each["undone"] for each in fates}["totals"] == []
    assert answer("gc", "--explain", folder=project)["orphans"]["files"] == 0


def test_killed_in_the_middle_it_says_so_and_goes_on(project: Path, commands: Commands) -> None:
    """Totals are saved every second epoch, so one with an odd number is shown when it is there."""
    (project / "app.py").write_text(
        (project / "app.py").read_text().replace('order="name"', 'order="name", watch=True')
    )
    process = commands.start("run", *FAST)
    wait_for(lambda: (project / "out" / "epoch=1").exists(), process)
    assert answer("status", folder=project)["lease"]["state"] == "live"
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert answer("status", folder=project)["lease"]["state"] == "dead"
    (project / "orders" / "4.csv").write_text("tea,10\n")
    process = commands.start("run", *FAST)
    wait_for(lambda: (project / "out" / "epoch=3").exists(), process)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "done: 1 recovery\n")
    assert sold(project) == {"tea": 16, "jam": 1, "bread": 5}


def totals(sink: Remembered) -> fk.Dataflow:
    flow = fk.Dataflow("repaired")
    rows = flow.read(Script(EPOCHS), name="rows")
    rows.group_by("item").agg(n="sum(amount)", name="totals").write(sink, name="out")
    return flow


def test_a_repair_inside_the_window_contradicts_nobody(spark: SparkSession, tmp_path: Path) -> None:
    """Monitors stay behind, the flow is stopped, put back by hand, and run to its end."""
    sink, place = Remembered(), tmp_path / "state"
    stop_in_the_middle(totals(sink), place, spark)
    shown = dict(sink.times)
    assert max(shown) < (9,), "the last epochs wait for monitors"
    least = look_at(str(place)).posted
    target = int(least["totals"][0]) + 1
    command = ["rollback", "--store", str(place), "--to", f"totals@{target}", "--yes"]
    result = CliRunner().invoke(cli, [*command, "--reason", "tried"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert look_at(str(place)).solution.frontiers["rows"] == (target,)
    report = run(totals(sink), place, spark)
    assert report.recoveries[0].frontiers["totals"] == (target,)
    assert {time: rows[0]["n"] for time, rows in sink.times.items()} == {
        (n,): n * (n + 1) // 2 for n in range(10)
    }
    assert {time: sink.times[time] for time in shown} == shown


def stop_in_the_middle(flow: fk.Dataflow, place: Path, spark: SparkSession) -> None:
    """Runs all epochs with a monitor that is four epochs behind, then stops without waiting."""
    blueprint, store, ended = flow.build(), open_store(str(place)), Event()
    with held(store):
        store.adopt({**describe(blueprint), "about": about(blueprint, embedded=False)})
        driver = prepared(blueprint, store, spark, Options(monitor="external", epochs_ahead=1))
        watcher = Watcher(store.noticeboard, behind=4)

        def monitor() -> None:
            while not ended.wait(0.05):
                watcher.look()
                if watcher.watermarks()["out"] == (9,):
                    driver.stop()

        thread = Thread(target=monitor)
        thread.start()
        try:
            driver.run()
        finally:
            ended.set()
            thread.join()
    store.close()
