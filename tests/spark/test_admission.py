"""Admission in running flows: what one epoch takes, by count, by the clock and by latency."""

import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def epochs_of(sink: Remembered) -> list[int]:
    """How many rows each epoch had."""
    return [len(sink.times[time]) for time in sorted(sink.times)]


def test_bytes_of_files(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, lines in enumerate((1, 1, 3, 1)):
        (folder / f"{number}.txt").write_text("1234567\n" * lines)
    flow, sink = fk.Dataflow("bytes"), Remembered()
    files = fk.Files(folder, format="text", order="name")
    flow.read(files, name="lines", limit=fk.Limit(bytes=16)).write(sink, name="out")
    run(flow, tmp_path / "store", spark)
    assert epochs_of(sink) == [2, 3, 1]


class Working(fk.Processor):
    """Takes a certain time for each row, whatever machine it runs on."""

    stateless = True

    def __init__(self, seconds_a_row: float) -> None:
        self.seconds_a_row = seconds_a_row

    def on_message(self, ctx: Any, port: int, time_: Any, batch: Any) -> None:
        """Works, and sends the rows on."""
        time.sleep(self.seconds_a_row * batch.arrow().num_rows)
        ctx.send(batch)


def test_adaptive_admission_grows_while_there_is_time_and_a_backlog(
    spark: SparkSession, tmp_path: Path
) -> None:
    flow, sink = fk.Dataflow("growing"), Remembered()
    numbers = flow.read(
        fk.Numbers(rows=3_000, rows_per_epoch=1_000),
        name="numbers",
        limit=fk.adaptive(60.0, least=10, most=640),
    )
    numbers.write(sink, name="out")
    run(flow, tmp_path / "store", spark, options=fk.Options(epochs_ahead=1))
    sizes = epochs_of(sink)
    # That there was more behind an epoch is known when the next one was read.
    doubling = [10, 10, 20, 20, 40, 40, 80, 80, 160, 160, 320, 320, 640, 640]
    assert sizes == [*doubling, 3_000 - sum(doubling)]
    assert sorted(row["value"] for row in sink.rows()) == list(range(3_000))


def test_adaptive_admission_shrinks_where_epochs_take_too_long(
    spark: SparkSession, tmp_path: Path
) -> None:
    flow, sink = fk.Dataflow("shrinking"), Remembered()
    numbers = flow.read(
        fk.Numbers(rows=60, rows_per_epoch=1_000), name="numbers", limit=fk.adaptive(0.001, least=8)
    )
    worked = numbers.process(Working(0.005), name="worked", policy=fk.ephemeral())
    worked.write(sink, name="out")
    run(flow, tmp_path / "store", spark)
    assert epochs_of(sink) == [8, 8, 8, 8, 8, 8, 8, 4]
