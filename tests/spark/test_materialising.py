"""In which form Spark gets rows that rest on the driver, and what it makes of them."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from falkirk.lindi.tables import made
from falkirk.runtime.aggregate import aggregate
from falkirk.runtime.content import Content
from falkirk.runtime.joining import join
from falkirk.runtime.materialise import KEPT_BYTES_MAX, Materialiser

pytestmark = pytest.mark.spark

FEW, MANY, LARGE = 100, 100_000, 3 * KEPT_BYTES_MAX // 16
"""Rows of sixteen bytes: a table that Spark may have as rows, one that is kept, one that is not."""


def numbers(rows: int, column: str = "n") -> pa.Table:
    return pa.table({"key": pa.array(range(rows), pa.int64()), column: pa.array([1] * rows)})


def plan(frame: Any, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    frame.explain()
    return capsys.readouterr().out


@pytest.fixture
def materialiser(spark: SparkSession) -> Iterator[Materialiser]:
    """One that leaves no blocks behind: others count them."""
    made = Materialiser(spark, None, small_bytes_max=KEPT_BYTES_MAX)
    yield made
    made.blocks.close()


def test_rows_stay_columns_until_tasks_read_them(
    materialiser: Materialiser, capsys: pytest.CaptureFixture[str]
) -> None:
    few, many = Content(table=numbers(FEW)), Content(table=numbers(MANY))
    assert "LocalTableScan" in plan(materialiser.hand_out(few), capsys), "Spark knows its size"
    assert "LocalTableScan" not in plan(materialiser.hand_out(many), capsys)
    assert materialiser.hand_out(many).agg(F.sum("n")).collect()[0][0] == MANY
    assert materialiser.hand_out(many) is materialiser.hand_out(many)
    assert many.cached is None


def test_a_large_table_is_handed_over_once_in_pieces(materialiser: Materialiser) -> None:
    large = Content(table=numbers(LARGE))
    frame = materialiser.hand_out(large)
    assert large.cached is not None
    assert large.small_frame is None, "that would be a copy in Spark's memory"
    assert not large.volatile, "its rows are on the driver as well"
    assert materialiser.hand_out(large) is frame
    found = frame.groupBy(F.spark_partition_id()).count().toArrow().column("count").to_pylist()
    assert sum(found) == LARGE
    assert max(found) * 16 <= 1.1 * KEPT_BYTES_MAX, "Arrow hands over ten thousand rows at a time"
    large.cached.lost = True
    assert materialiser.hand_out(large) is not frame
    assert materialiser.hand_out(large).count() == LARGE


@pytest.mark.parametrize("how", ["inner", "left", "left_semi", "left_anti"])
def test_the_smaller_side_of_a_join_goes_to_where_the_larger_one_is(
    materialiser: Materialiser, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    small, large = numbers(MANY, "m"), Content(table=numbers(LARGE))
    joined = materialiser.hand_out(join(large, Content(table=small), ["key"], how))
    assert "BroadcastHashJoin" in plan(joined, capsys)
    kept = LARGE - MANY if how == "left_anti" else LARGE if how == "left" else MANY
    assert joined.count() == kept
    turned = materialiser.hand_out(join(Content(table=small), large, ["key"], how))
    assert "BuildLeft" in plan(turned, capsys) or how != "inner"
    assert turned.count() == (0 if how == "left_anti" else MANY)


def test_a_table_that_does_not_change_goes_to_where_many_rows_are(
    materialiser: Materialiser, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has few rows, but more bytes than Spark would know."""
    wide = numbers(10_000, "m").append_column("text", pa.array(["x" * 100] * 10_000))
    table = made(spark, spark.createDataFrame(wide)).frame
    joined = materialiser.hand_out(Content(table=numbers(LARGE))).join(table, "key")
    assert "BroadcastHashJoin" in plan(joined, capsys)
    assert joined.count() == 10_000


def test_state_is_not_moved_to_meet_the_keys_that_are_touched(
    materialiser: Materialiser, capsys: pytest.CaptureFixture[str]
) -> None:
    state, touched = Content(table=numbers(LARGE)), Content(table=numbers(MANY))
    found = materialiser.hand_out(
        aggregate(materialiser, [state, touched], ["key"], [("n", "sum")], touched)
    )
    assert "BroadcastHashJoin" in plan(found, capsys)
    assert found.agg(F.count("*"), F.sum("n")).collect()[0] == (MANY, 2 * MANY)
