"""State that is merged piece by piece: the same rows, in less room, also after a restart."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.runtime.batch import Batch
from falkirk.runtime.compaction import PIECES
from falkirk.runtime.content import Content
from falkirk.runtime.dividing import divided, in_piece, piece_numbers
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.store import open_store
from falkirk.testing.script import Script

pytestmark = pytest.mark.spark

KEYS = 2_000
FORMS = {
    "small": Options(divided_bytes_min=0),
    "cached": Options(small_bytes_max=0, divided_bytes_min=0),
    "in files": Options(small_bytes_max=0, divided_bytes_min=0, columns_bytes_min=0),
}


@pytest.fixture
def materialiser(spark: SparkSession) -> Iterator[Materialiser]:
    """One that leaves no blocks behind: others count them."""
    made = Materialiser(spark, None)
    yield made
    made.blocks.close()


VALUES: dict[str, pa.Array] = {
    "word": pa.array(["a", "ß", "", None, "a\x1fb", "long " * 50]),
    "long": pa.array([0, -1, 1 << 62, None, 7, -(1 << 62)]),
    "int": pa.array([0, -1, 1 << 30, None, 7, 8], pa.int32()),
    "tiny": pa.array([0, -1, 127, None, 7, 8], pa.int8()),
    "day": pa.array([date(1969, 7, 20), date(2026, 1, 1), None, date(1, 1, 1)] * 2)[:6],
    "moment": pa.array(
        [datetime(1969, 7, 20, 1, 2, 3, 4, UTC), None, datetime(2026, 1, 1, tzinfo=UTC)] * 2,
        pa.timestamp("us", "UTC"),
    ),
    "real": pa.array([0.5, -0.0, None, 1e300, float("nan"), 3.0]),
}


@pytest.mark.parametrize("keys", [*([name] for name in VALUES), ["word", "long"], ["real", "day"]])
def test_spark_and_the_driver_divide_alike(materialiser: Materialiser, keys: list[str]) -> None:
    table = pa.table({"row": range(6), **VALUES})
    frame = materialiser.hand_out(Content(table=table))
    found = {
        row["row"]: number
        for number in range(PIECES)
        for row in in_piece(number, keys)(frame).toArrow().to_pylist()
    }
    assert [found[row] for row in range(6)] == piece_numbers(table, keys).tolist()


@pytest.mark.parametrize("small_bytes_max", [1 << 25, 0])
def test_no_row_is_lost_and_none_is_there_twice(spark: SparkSession, small_bytes_max: int) -> None:
    materialiser = Materialiser(spark, None, small_bytes_max)
    table = pa.table({"key": [f"key {n}" for n in range(500)], "n": range(500)})
    pieces = divided(Batch(Content(table=table), materialiser), ["key"])
    assert [each.content.piece and each.content.piece.number for each in pieces] == [0, 1, 2, 3]
    assert sum(each.rows or 0 for each in pieces) == 500
    assert all((each.rows or 0) > 80 for each in pieces), "about as many in each"
    assert sorted(n for each in pieces for n in each.arrow()["n"].to_pylist()) == list(range(500))
    materialiser.blocks.close()


def test_a_batch_without_rows_keeps_its_columns(materialiser: Materialiser) -> None:
    table = pa.table({"key": pa.array([], pa.string())})
    (only,) = divided(Batch(Content(table=table), materialiser), ["key"])
    assert only.arrow().schema == table.schema


class Totals:
    """A sink that remembers the last count of each key."""

    exactly_once = False

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def write(self, name: str, time: Any, batch: Any) -> None:
        for row in batch.arrow().to_pylist():
            self.counts[row["key"]] = max(row["count"], self.counts.get(row["key"], 0))


def epochs(count: int) -> list[list[dict[str, int]]]:
    random = Random(5)
    return [[{"key": random.randrange(KEYS)} for _ in range(200)] for _ in range(count)]


def counting(rows: list[list[dict[str, int]]], sink: Totals) -> fk.Dataflow:
    flow = fk.Dataflow("counting")
    counted = flow.read(Script(rows), name="rows").group_by("key").count(name="counts")
    counted.write(sink, name="out")
    return flow


@pytest.mark.parametrize("form", FORMS)
def test_counts_are_right_and_go_on_after_a_restart(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    rows = epochs(60 if form == "small" else 16)
    right = Counter(row["key"] for epoch in rows for row in epoch)
    sink = Totals()
    half = len(rows) // 2
    run(counting(rows[:half], sink), tmp_path, spark, options=FORMS[form])
    assert pieces_in(tmp_path) == set(range(PIECES)), "or nothing of this was tried"
    run(counting(rows, sink), tmp_path, spark, options=FORMS[form])
    assert sink.counts == right
    assert pieces_in(tmp_path) == set(range(PIECES))


def pieces_in(place: Path) -> set[int]:
    """The pieces that a store holds."""
    store = open_store(place)
    try:
        return {each.piece.number for each in store.references() if each.piece}
    finally:
        store.close()


def test_old_and_new_state_are_never_both_there(spark: SparkSession, tmp_path: Path) -> None:
    """What was merged is gone before more is merged: at most one merge is there twice."""
    store, seen = open_store(tmp_path), list[tuple[int, int]]()
    put = store.files.fill

    def fill(name: str, content: Any) -> None:
        put(name, content)
        held = [each for each in store.references() if each.piece]
        there = {name for name in store.files.names() if f"of{PIECES}" in name}
        unheld = [name for name in there if name not in {each.name for each in held}]
        seen.append((len(held), len(unheld)))

    store.files.fill = fill
    options = Options(divided_bytes_min=1, epochs_ahead=1)
    run(counting(epochs(60), Totals()), store, spark, options=options)
    store.close()
    assert max(held for held, _ in seen) > PIECES, "pieces were merged with what was new of them"
    # A merge puts one piece in the place of two; a division adds one of each.
    assert max(unheld for _, unheld in seen) <= PIECES
