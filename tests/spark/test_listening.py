"""Listeners hear of progress, checkpoints, recoveries and outputs, and cannot disturb a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.runtime.listening import Listener
from falkirk.runtime.options import Options
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark


class Heard(Listener):
    """Keeps all that it hears."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattribute__(self, name: str) -> Any:
        if name in vars(Listener) and not name.startswith("_"):
            return lambda *args: self.calls.append((name, args))
        return object.__getattribute__(self, name)

    def of(self, name: str) -> list[Any]:
        return [args[0] for called, args in self.calls if called == name]


class Deaf(Listener):
    """Fails whenever it is told something."""

    def progressed(self, progress: Any) -> None:
        raise RuntimeError("not listening")


def counting(sink: Any, rows: int) -> fk.Dataflow:
    flow = fk.Dataflow("listened")
    numbers = flow.read(Numbers(rows=rows, rows_per_epoch=10), name="numbers")
    counts = numbers.group_by("value % 3 AS k").count(name="counts", policy=fk.lazy())
    counts.write(sink, name="out")
    return flow


def test_a_run_is_told_from_its_start_to_its_end(spark: SparkSession, tmp_path: Path) -> None:
    heard, options = Heard(), Options(progress_seconds=0.0)
    fk.run(counting(Remembered(), 50), tmp_path, spark, options=options, listeners=[heard])
    names = [name for name, _ in heard.calls]
    assert (names[0], names[-1]) == ("started", "ended")
    assert heard.of("started") == ["listened"]
    assert heard.of("ended") == [None]
    assert sorted(taken.time for taken in heard.of("taken")) == [(e,) for e in range(5)]
    assert all(taken.rows == 3 and taken.seconds is not None for taken in heard.of("taken"))
    saved = {checkpoint.processor for checkpoint in heard.of("checkpointed")}
    assert saved == {"numbers", "counts", "out"}
    last = heard.of("progressed")[-1]
    assert last.processors["counts"].events >= 5
    assert last.processors["numbers"].rows in (0, 50)
    assert last.processors["counts"].state_rows > 0
    assert last.processors["counts"].completed == last.processors["counts"].watermark
    assert last.processors["counts"].lag_seconds == 0.0
    assert all(edge.queued == 0 for edge in last.edges.values())
    assert {edge.projection for edge in last.edges.values()} == {"identity"}
    told = json.loads(json.dumps(last.to_json()))
    assert told["processors"]["counts"]["completed"] == {"total": [4]}
    assert last.replayed_rows == 0
    assert [each.number for each in heard.of("progressed")] == list(
        range(len(heard.of("progressed")))
    )


def test_a_second_run_tells_that_it_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    fk.run(counting(Remembered(), 20), tmp_path, spark)
    heard = Heard()
    fk.run(counting(Remembered(), 50), tmp_path, spark, listeners=[heard])
    (notice,) = heard.of("rolled_back")
    assert notice.cause == notice.kind == "restart"
    assert set(notice.failed) == {"numbers", "counts", "out"}
    assert heard.of("caught_up") == [notice], "there was nothing to do again"


def test_a_listener_that_fails_is_nobody_elses_trouble(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sink, heard, options = Remembered(), Heard(), Options(progress_seconds=0.0)
    fk.run(counting(sink, 30), tmp_path, spark, options=options, listeners=[Deaf(), heard])
    assert sorted(sink.times) == [(0,), (1,), (2,)]
    assert heard.of("ended") == [None]
    assert "Deaf could not be told: progressed" in caplog.text
