"""Batches that come together need the same columns: on the driver and on executors alike."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.core.errors import ConnectorError, ExecutionError
from falkirk.runtime.content import Content
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.runtime.uniting import columns_of_frame, columns_of_table, united_frames, united_tables
from falkirk.testing.script import Remembered, Script

pytestmark = pytest.mark.spark

FORMS = {"small": Options(), "cached": Options(small_bytes_max=0)}
ONE, OTHER = [[{"n": 1, "w": "x"}]], [[{"n": 2, "w": "y"}]]

UNLIKE = {
    "a type": ("CAST(n AS STRING) AS n, w", "'n' is (bigint and string|string and bigint)"),
    "a wider type": ("CAST(n AS DOUBLE) AS n, w", "'n' is (bigint and double|double and bigint)"),
    "a missing column": ("n", "'w' is (string and missing|missing and string)"),
    "another case": ("n AS N, w", "'N' is (bigint and missing|missing and bigint)"),
}


def both(chosen: str, sink: Remembered, whole: bool) -> fk.Dataflow:
    """Two streams, one with other columns, that come together in a processor or in the sink."""
    flow = fk.Dataflow("unlike")
    one = flow.read(Script(ONE), name="one")
    other = flow.read(Script(OTHER), name="other").transform(
        lambda frame: frame.selectExpr(*chosen.split(", "))
    )
    union = one.union(other, name="both")
    made = union.transform(lambda frame: frame, whole=True, name="meet") if whole else union
    made.write(sink, name="out")
    return flow


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("case", UNLIKE)
def test_the_processor_in_which_unlike_batches_meet_is_named(
    spark: SparkSession, tmp_path: Path, case: str, options: Options
) -> None:
    chosen, message = UNLIKE[case]
    told = (
        rf"test_unions\.py:\d+: 'meet' failed at time \(0,\).* have different columns: .*{message}"
    )
    with pytest.raises(ExecutionError, match=told) as raised:
        run(both(chosen, Remembered(), whole=True), tmp_path, spark, options=options)
    assert str(raised.value).count(ExecutionError.code) == 1


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
def test_the_sink_is_named_if_they_meet_there(
    spark: SparkSession, tmp_path: Path, options: Options
) -> None:
    with pytest.raises(ConnectorError, match=r"the sink 'out' .*'n' is .* and "):
        run(both(UNLIKE["a type"][0], Remembered(), whole=False), tmp_path, spark, options=options)


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
def test_the_order_of_columns_does_not_matter(
    spark: SparkSession, tmp_path: Path, options: Options
) -> None:
    sink = Remembered()
    run(both("w, n", sink, whole=True), tmp_path, spark, options=options)
    assert sink.times == {(0,): [{"n": 1, "w": "x"}, {"n": 2, "w": "y"}]}


TABLES: dict[str, Any] = {
    "bigint": pa.table({"a": [1]}),
    "int": pa.table({"a": pa.array([1], pa.int32())}),
    "string": pa.table({"a": ["1"]}),
    "void": pa.table({"a": pa.nulls(1)}),
    "timestamp": pa.table({"a": pa.array([1], pa.timestamp("us", "UTC"))}),
    "array": pa.table({"a": [[1]]}),
    "another": pa.table({"b": [1]}),
}


@pytest.mark.parametrize("left", TABLES)
@pytest.mark.parametrize("right", TABLES)
def test_arrow_and_spark_agree_on_what_can_be_united(
    spark: SparkSession, left: str, right: str
) -> None:
    tables = [TABLES[left], TABLES[right]]
    frames = [spark.createDataFrame(table) for table in tables]
    for table, frame in zip(tables, frames, strict=True):
        assert columns_of_table(table) == columns_of_frame(frame)
    alike = left == right or ("void" in (left, right) and "another" not in (left, right))
    if alike:
        assert columns_of_table(united_tables(tables)) == columns_of_frame(united_frames(frames))
        return
    for unite, given in ((united_tables, tables), (united_frames, frames)):
        with pytest.raises(ExecutionError, match="different columns"):
            unite(given)  # type: ignore[operator]


def test_rows_behind_an_empty_piece_are_there(spark: SparkSession) -> None:
    """A batch without rows that is read back from a file is a piece without rows."""
    one, other = pa.table({"n": [1]}), pa.table({"n": [2]})
    pieces = united_tables([one, one.slice(0, 0), other])
    assert [piece.num_rows for piece in pieces.to_batches()] == [1, 0, 1]
    frame = Materialiser(spark, None).hand_out(Content(table=pieces))
    assert [row.n for row in frame.collect()] == [1, 2]
