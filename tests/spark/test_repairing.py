"""A flow that runs is pinned, goes back there and mends its results; nobody outside notices."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.faults.killing import ROOT, kill_group
from tests.unit.cli.stories import falkirk

import falkirk as fk
from falkirk.core.errors import RecoveryError, StoreError
from falkirk.dataflow.connecting import Limit
from falkirk.inspection.look import look_at, opened
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark

PATIENCE_SECONDS = 90


@dataclass
class Tap:
    """One row an epoch until it is closed; while it is ``foul`` its rows are wrong."""

    foul: bool = False
    last: int | None = None
    read_first: int = 1 << 30
    committed: int = 0

    replayable = True

    def initial(self) -> int:
        return 0

    def latest(self, start: int, limit: Limit) -> int:
        time.sleep(0.01)
        return start if self.finished(start) else start + 1

    def read(self, session: Any, start: int, end: int) -> Any:
        self.read_first = min(self.read_first, start)
        return pa.table({"value": [-1 if self.foul else start]})

    def size(self, start: int, end: int) -> int | None:
        return None

    def finished(self, position: int) -> bool:
        return self.last is not None and position >= self.last

    def commit(self, end: int) -> None:
        self.committed = end


class Running:
    """A run on a thread: numbers are added up, and beside them others that nobody takes back."""

    def __init__(self, spark: SparkSession | None, store: Path, sink: Any) -> None:
        self.store, self.tap, self.other = str(store), Tap(), Tap()
        self.same = Remembered()
        flow = fk.Dataflow("repaired")
        numbers = flow.read(self.tap, name="numbers")
        sums = numbers.group_by("value % 2 AS odd").agg(sum="sum(value)", name="sums")
        sums.write(sink, name="out")
        flow.read(self.other, name="others").where("value >= 0").write(self.same, name="same")
        self.thread = Thread(target=fk.run, args=(flow, store, spark))
        self.thread.start()

    def command(self, *arguments: str) -> Any:
        return falkirk(*arguments, "--store", self.store, "--json")

    def told(self, *arguments: str) -> Any:
        result = self.command(*arguments)
        assert result.exit_code == 0, result.output
        return json.loads(result.output)

    def until(self, met: Callable[[], bool]) -> None:
        ends = time.monotonic() + PATIENCE_SECONDS
        while not met():
            assert self.thread.is_alive(), "the run is over"
            assert time.monotonic() < ends, "it does not come to that"
            time.sleep(0.02)

    def saved(self) -> int:
        frontier = look_at(self.store).saved("sums")
        return int(frontier[0]) if frontier else -1

    def end(self) -> None:
        for tap in (self.tap, self.other):
            tap.last = self.saved() + 2
        self.thread.join(PATIENCE_SECONDS)
        assert not self.thread.is_alive()


def sums_up_to(epoch: int) -> list[dict[str, int]]:
    values = range(epoch + 1)
    return sorted(
        (
            {"odd": odd, "sum": sum(v for v in values if v % 2 == odd)}
            for odd in {v % 2 for v in values}
        ),
        key=repr,
    )


def test_a_running_flow_goes_back_to_its_pin_and_mends_what_came_after(
    spark: SparkSession, tmp_path: Path
) -> None:
    shown = tmp_path / "out"
    run = Running(spark, tmp_path / "state", fk.ParquetSink(shown))
    try:
        run.until(lambda: len(epochs_in(shown)) > 3)
        why = ("--why", "a new feed")
        kept = run.told("pin", "before", *why)["frontiers"]
        (pinned,) = kept["sums"]["frontier"][0]
        run.tap.foul = True
        run.until(lambda: max(epochs_in(shown)) > pinned + 10)
        (pin,) = run.told("pins")["pins"]
        assert pin["cost"]["epochs"] > 5
        run.tap.foul, run.tap.read_first = False, 1 << 30
        done = ("--yes", "--reason", "the feed was foul")
        plan = run.told("rollback", "--to", "sums@before", *done)
        assert (plan["applied"], plan["undo"]) == (True, ["out"])
        run.until(lambda: run.tap.read_first < 1 << 30)
        assert run.tap.read_first == pinned + 1, "the input goes on after the pin"
        seen = look_at(run.store)
        undone = seen.audit[-1]["moved"]
        assert set(undone) == {"numbers", "sums", "out"}, "who need not go back goes on"
        run.until(lambda: run.saved() > pinned + 2)
        run.told("unpin", "before", *why)
        run.end()
    finally:
        run.tap.last = run.other.last = 0
        run.thread.join(PATIENCE_SECONDS)
    last = max(epochs_in(shown))
    found = {e: rows_of(shown / f"epoch={e}") for e in epochs_in(shown)}
    assert found == {e: changed_at(e) for e in range(last + 1)}
    assert run.same.repeated == []
    assert run.tap.committed == last + 1
    whats = [entry["what"] for entry in look_at(run.store).audit]
    assert whats == ["pin before", "rollback", "unpin before"]
    (recovery,) = run.told("recoveries")["recoveries"]
    assert (recovery["kind"], recovery["kept"]) == ("repair", 3)
    assert "the feed was foul" in recovery["cause"]
    moved = {each["processor"]: each for each in recovery["moved"]}
    assert moved["sums"]["epochs"] > 5


def epochs_in(folder: Path) -> list[int]:
    return [int(each.name.partition("=")[2]) for each in folder.glob("epoch=*")]


def rows_of(folder: Path) -> list[dict[str, int]]:
    return sorted(pq.read_table(folder, partitioning=None).to_pylist(), key=repr)


def changed_at(epoch: int) -> list[dict[str, int]]:
    """A running sum shows the groups that an epoch has touched."""
    return [row for row in sums_up_to(epoch) if row["odd"] == epoch % 2]


def test_what_a_run_was_killed_before_taking_back_the_next_one_takes_back(
    spark: SparkSession, tmp_path: Path
) -> None:
    child = [sys.executable, "-m", "tests.spark.repair_child", str(tmp_path)]
    process = subprocess.Popen(child, cwd=ROOT, start_new_session=True)
    try:
        assert process.wait(2 * PATIENCE_SECONDS) == -signal.SIGKILL
    finally:
        kill_group(process)
    state, shown = tmp_path / "state", tmp_path / "out"
    with opened(str(state)) as store:
        (pinned,) = store.noticeboard.undone()["out"]
    assert [entry["what"] for entry in look_at(str(state)).audit] == ["pin before", "rollback"]
    foul = max(epochs_in(shown))
    assert foul > pinned + 3, "it is still to be seen"
    run = Running(spark, state, fk.ParquetSink(shown))
    try:
        run.until(lambda: run.saved() > foul)
        run.end()
    finally:
        run.tap.last = run.other.last = 0
        run.thread.join(PATIENCE_SECONDS)
    assert run.tap.read_first == pinned + 1
    found = {e: rows_of(shown / f"epoch={e}") for e in epochs_in(shown)}
    assert found == {e: changed_at(e) for e in range(max(found) + 1)}


def test_a_pinned_state_can_be_read_but_what_was_shown_is_not_undone(
    spark: SparkSession, tmp_path: Path
) -> None:
    sink = Remembered()
    run = Running(spark, tmp_path, sink)
    try:
        run.until(lambda: len(sink.times) > 3)
        pinned = run.told("pin", "early", "--why", "the books")["frontiers"]
        (epoch,) = pinned["sums"]["frontier"][0]
        run.until(lambda: max(sink.times)[0] > epoch + 10)
        live = run.command("rollback", "--to-pin", "early", "--dry-run").exception
        run.end()
    finally:
        run.tap.last = run.other.last = 0
        run.thread.join(PATIENCE_SECONDS)
    stopped = run.command("rollback", "--to-pin", "early", "--dry-run").exception
    for refused in (live, stopped):
        assert isinstance(refused, RecoveryError)
        assert "the output 'out' cannot go back" in str(refused)
    assert run.tap.committed == epoch + 1, "the source may not forget what follows"
    frame = fk.read_state(run.store, "sums@early", spark)
    (read,) = frame.selectExpr("sum(sum) AS all").collect()
    assert read["all"] == sum(range(epoch + 1))
    with pytest.raises(StoreError, match="falkirk pin NAME"):
        fk.read_state(run.store, f"sums@{epoch - 1}", spark)
