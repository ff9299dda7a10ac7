"""Every operator of lindi gives, at every epoch, what plain PySpark gives for the rows of it."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.lindi_cases import CASES, EPOCHS, OTHER, SCHEMA, random_rows

import falkirk as fk
from falkirk import lindi
from falkirk.connectors import Numbers
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered, Rows, Script

pytestmark = pytest.mark.spark

SEED = 580
FORMS = {"small": Options(), "cached": Options(small_bytes_max=0)}
"""Batches on the driver, and batches on executors: the rows must be the same."""


def scripts() -> dict[str, Script]:
    """Three sources; the first two have the same columns, so that a time has two batches."""
    random = Random(SEED)

    def script(schema: pa.Schema, most: int) -> Script:
        return Script([random_rows(random, schema, most) for _ in range(EPOCHS)], schema)

    return {"one": script(SCHEMA, 12), "two": script(SCHEMA, 8), "other": script(OTHER, 4)}


@pytest.fixture(scope="module", params=FORMS)
def sinks(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Remembered]:
    """What all operators showed; one flow has them all."""
    flow, shown = fk.Dataflow("lindi"), dict[str, Remembered]()
    one, two, other = (
        lindi.rows(flow.read(script, name=name)) for name, script in scripts().items()
    )
    both = one.union(two, name="both")
    for case, (make, _) in CASES.items():
        shown[case] = Remembered()
        make(both, other).write(shown[case], name=f"out {case}")
    run(flow, tmp_path_factory.mktemp("store"), spark, options=FORMS[request.param])
    return shown


@pytest.fixture(scope="module")
def plain(spark: SparkSession) -> Callable[[str], list[Rows]]:
    """What PySpark gives for a case at each epoch; it is asked once."""
    one, two, other = scripts().values()
    frames = [
        (
            spark.createDataFrame(pa.Table.from_pylist([*here, *there], schema=SCHEMA)),
            spark.createDataFrame(pa.Table.from_pylist(beside, schema=OTHER)),
        )
        for here, there, beside in zip(one.epochs, two.epochs, other.epochs, strict=True)
    ]

    @cache
    def given(case: str) -> list[Rows]:
        made = [CASES[case][1](*pair).toArrow().to_pylist() for pair in frames]
        return [sorted(rows, key=repr) for rows in made]

    return given


@pytest.mark.parametrize("case", CASES)
def test_an_operator_gives_what_pyspark_gives(
    sinks: dict[str, Remembered], plain: Callable[[str], list[Rows]], case: str
) -> None:
    found = sinks[case].times
    assert [found[(epoch,)] for epoch in range(EPOCHS)] == plain(case), f"seed {SEED}"
    assert len(found) == EPOCHS
    assert not sinks[case].repeated


def test_the_random_rows_are_worth_something() -> None:
    epochs = [script.epochs for script in scripts().values()]
    assert all(any(rows for rows in each) for each in epochs)
    assert any(not rows for each in epochs for rows in each)


class InOrder:
    """A sink that keeps rows as they come."""

    exactly_once = True

    def __init__(self) -> None:
        self.values: dict[Any, list[int]] = {}

    def write(self, name: str, time: Any, batch: Any) -> None:
        self.values[time] = [row["value"] for row in batch.arrow().to_pylist()]


@pytest.mark.parametrize("form", FORMS)
def test_a_sink_gets_rows_in_order(spark: SparkSession, tmp_path: Path, form: str) -> None:
    flow, ordered, first = fk.Dataflow("order"), InOrder(), InOrder()
    numbers = lindi.rows(flow.read(Numbers(rows=40, rows_per_epoch=20)))
    spread = numbers.repartition(4, "value % 7")
    spread.order_by("value % 3 DESC", "value").write(ordered)
    spread.order_by(lambda f: f.value.desc()).limit(3).write(first)
    run(flow, tmp_path, spark, options=FORMS[form])
    for epoch in range(2):
        values = range(20 * epoch, 20 * epoch + 20)
        assert ordered.values[(epoch,)] == sorted(values, key=lambda v: (-(v % 3), v))
        assert first.values[(epoch,)] == sorted(values, reverse=True)[:3]


WINDOWS: dict[str, tuple[tuple[int, ...], Callable[[int], range | None]]] = {
    "tumbling": ((3,), lambda e: range(e - 2, e + 1) if e % 3 == 2 else None),
    "sliding": ((4, 1), lambda e: range(max(0, e - 3), e + 1)),
}
"""The arguments of a window, and which epochs the window has that ends at an epoch."""


@pytest.mark.parametrize("form", FORMS)
def test_windows_over_epochs(spark: SparkSession, tmp_path: Path, form: str) -> None:
    """There are so many epochs that old ones are merged, and forgotten."""
    epochs = 12
    flow, shown = fk.Dataflow("windows"), {case: Remembered() for case in WINDOWS}
    numbers = lindi.rows(flow.read(Numbers(rows=2 * epochs, rows_per_epoch=2)))
    for case, (arguments, _) in WINDOWS.items():
        numbers.window(*arguments, name=case).write(shown[case], name=f"out {case}")
    run(flow, tmp_path, spark, options=FORMS[form])
    for case, (_, members) in WINDOWS.items():
        expected = {
            (epoch,): sorted(({"value": 2 * e + i} for e in ends for i in range(2)), key=repr)
            for epoch in range(epochs)
            if (ends := members(epoch)) is not None
        }
        assert shown[case].times == expected, case


def test_a_window_is_continued_by_the_next_run(spark: SparkSession, tmp_path: Path) -> None:
    """The end of the first run ends its last window: what came is not lost."""

    def windows(epochs: int, sink: Remembered) -> fk.Dataflow:
        flow = fk.Dataflow("windows")
        script = Script([[{"value": n}] for n in range(epochs)])
        counts = lindi.rows(flow.read(script, name="in")).window(3, name="window").group_by()
        counts.agg(values="sort_array(collect_list(value))").write(sink, name="out")
        return flow

    first, second = Remembered(), Remembered()
    run(windows(5, first), tmp_path, spark)
    run(windows(9, second), tmp_path, spark)
    seen = [rows[0]["values"] for sink in (first, second) for _, rows in sorted(sink.times.items())]
    assert seen[:2] == [[0, 1, 2], [3, 4]]
    assert sorted(value for values in seen for value in values) == list(range(9))
    assert not set(first.times) & set(second.times)


def everything(rows: Rows) -> list[int]:
    """The values of rows, sorted."""
    return sorted(row["value"] for row in rows)


def test_row_wise_operators_take_sequences_too(spark: SparkSession, tmp_path: Path) -> None:
    flow, sink = fk.Dataflow("sequence"), Remembered()
    numbered = flow.read(Numbers(rows=12, rows_per_epoch=2)).in_sequence()
    even = lindi.rows(numbered).where(lambda f: f.value % 2 == 0)
    even.stream.windows(count=3).write(sink)
    run(flow, tmp_path, spark)
    assert {time: everything(rows) for time, rows in sink.times.items()} == {
        (0,): [0, 2, 4],
        (1,): [6, 8, 10],
    }
