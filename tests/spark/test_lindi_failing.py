"""Failures: what lindi's operators show is what they show without, and errors lead to the user."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark.recording import Loss
from tests.spark.test_jobs import jobs_of
from tests.spark.test_running import Doubling
from tests.spark.test_same_as_simulated import Sinks, recorded

import falkirk as fk
from falkirk import lindi
from falkirk.connectors import Numbers
from falkirk.core.errors import ExecutionError
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered, Rows

pytestmark = pytest.mark.spark


def numbers(flow: fk.Dataflow, epochs: int = 4) -> lindi.Rows:
    """Five numbers at each epoch."""
    return lindi.rows(flow.read(Numbers(rows=5 * epochs, rows_per_epoch=5), name="numbers"))


def all_sorts(sink: Sinks) -> fk.Dataflow:
    """Operators of all sorts behind each other: row by row, whole times, a loop, a window."""
    flow = fk.Dataflow("sorts")
    kept = numbers(flow).where("value % 5 != 4", name="kept")
    both = kept.union(kept.select("value + 1 AS value", name="next"), name="both")
    once = both.distinct(name="once")
    small = once.iterate_while("value > 3", lambda r: r.select("value - 4 AS value"), name="less")
    counts = small.group_by("value").count(name="counts")
    counts.window(2, every=1, name="window", policy=fk.lazy(every=2)).write(sink(), name="out")
    return flow


def test_lost_contents_leave_no_trace(spark: SparkSession, tmp_path: Path) -> None:
    losses = [
        Loss("once", 3, frozenset({"once", "counts"})),
        Loss("window", 4, frozenset({"window", "less-condition"})),
    ]
    troubled = recorded(spark, tmp_path / "troubled", all_sorts, losses)
    calm = recorded(spark, tmp_path / "calm", all_sorts, [])
    assert len(troubled.recoveries) == len(losses)
    assert troubled.sinks[0].times == calm.sinks[0].times
    assert len(calm.sinks[0].times) == 4


def test_user_code_that_fails_once_leaves_no_trace(spark: SparkSession, tmp_path: Path) -> None:
    def totals(failures: int, sink: Remembered) -> fk.Dataflow:
        flow = fk.Dataflow("totals")
        picked = numbers(flow).select("value").stream.process(Doubling(failures), name="double")
        lindi.rows(picked).group_by().agg(total="sum(value)").write(sink, name="out")
        return flow

    calm, troubled = Remembered(), Remembered()
    run(totals(0, calm), tmp_path / "calm", spark)
    assert run(totals(1, troubled), tmp_path / "troubled", spark).retries == 1
    assert troubled.times == calm.times
    assert [row["total"] for row in calm.rows()] == [20, 70, 120, 170]


def test_ten_operators_are_one_job(spark: SparkSession, tmp_path: Path) -> None:
    epochs, flow, sink = 3, fk.Dataflow("fused"), Remembered()
    rows = numbers(flow, epochs).select("value", "value % 2 AS k", name="a")
    rows = rows.where(lambda f: f.value >= 0, name="b")
    rows = rows.flat_map(lambda row: [row, row], "value BIGINT, k BIGINT", name="c")
    rows = rows.map_batches(lambda batch: batch, "value BIGINT, k BIGINT", name="d")
    rows = rows.repartition(2, "k", name="e").distinct(name="f").whole(name="g")
    rows = rows.group_by("k").agg(total="sum(value)", name="h")
    rows.select("total", name="i").where("total >= 0", name="j").write(sink, name="out")
    chain = " → ".join(("numbers", *"abcdefghij", "out"))
    assert f"    one job: {chain}" in flow.explain().splitlines()
    with jobs_of(spark) as jobs:
        run(flow, tmp_path, spark)
    assert jobs == [epochs]
    assert [sum(row["total"] for row in sink.times[(e,)]) for e in range(3)] == [10, 35, 60]


def test_batches_of_one_time_meet_in_one_plan(spark: SparkSession, tmp_path: Path) -> None:
    flow, sink = fk.Dataflow("two"), Remembered()
    left, right = (
        lindi.rows(flow.read(Numbers(rows=20, rows_per_epoch=10), name=name)) for name in "lr"
    )
    both = left.where("value % 2 = 0", name="even").union(right, name="both")
    both.group_by("value").count(name="counts").write(sink, name="out")
    line = "    one job: (l → even, r) → both → counts → out"
    assert line in flow.explain().splitlines()
    with jobs_of(spark) as jobs:
        run(flow, tmp_path, spark)
    # The rows are counted where they rest, and fetched: nobody knows before that they are few.
    assert jobs == [2 * 2]
    assert sorted(row["count"] for row in sink.rows()) == [1] * 10 + [2] * 10


def raises(row: dict[str, Any]) -> Rows:
    """Does not like three."""
    if row["value"] == 3:
        raise ValueError("three")
    return [row]


def on_forever(rows: lindi.Rows) -> lindi.Rows:
    return rows.iterate_while("value >= 0", lambda r: r.select("value"), rounds_max=4, name="turn")


WRONG: dict[str, tuple[Callable[[lindi.Rows], lindi.Rows], str]] = {
    "a column": (lambda r: r.select("no_such", name="wrong"), r"'wrong' failed .*no_such"),
    "a column of a whole time": (
        lambda r: r.group_by("no_such").agg(n="count(*)", name="wrong").where("n > 0"),
        r"'wrong' failed .*no_such",
    ),
    "a column of a function": (
        lambda r: r.order_by(lambda f: f.no_such, name="wrong").select("1 AS one"),
        r"'wrong' failed .*no_such",
    ),
    "SQL": (
        lambda r: r.where("value >", name="wrong").union(r, name="both").distinct(),
        r"'wrong' failed .*PARSE_SYNTAX_ERROR",
    ),
    "a batch that meets others": (
        lambda r: r.union(r.select("'x' AS value")).distinct(name="wrong"),
        r"'wrong' failed .*'value' is bigint and string",
    ),
    "a loop": (
        on_forever,
        r"'turn-condition' failed at time \([01], 4\).*5 rows go on after 4 rounds",
    ),
    "a column of a window": (
        lambda r: r.select("value AS _epoch").window(2, name="wrong"),
        r"'wrong' failed .*the rows have a column '_epoch'",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_error_names_the_operator_and_the_users_line(
    spark: SparkSession, tmp_path: Path, what: str
) -> None:
    make, message = WRONG[what]
    flow = fk.Dataflow("wrong")
    make(numbers(flow, 2)).write(Remembered(), name="out")
    with pytest.raises(ExecutionError, match=r"(?s)" + message) as told:
        run(flow, tmp_path, spark)
    assert "test_lindi_failing.py:" in str(told.value)
    assert "run again on the same store" in str(told.value)


def test_a_function_that_raises_is_told_and_nothing_is_lost(
    spark: SparkSession, tmp_path: Path
) -> None:
    def mapped(function: Callable[[dict[str, Any]], Rows], sink: Remembered) -> fk.Dataflow:
        flow = fk.Dataflow("mended")
        made = numbers(flow, 2).flat_map(function, "value BIGINT", name="mapped")
        made.where("true").write(sink, name="out")
        return flow

    sink = Remembered()
    message = (
        r"test_lindi_failing.py:\d+: 'mapped' called raises, which raised ValueError: three;"
        r" the row was \{'value': 3\}"
    )
    with pytest.raises(ExecutionError, match=message):
        run(mapped(raises, sink), tmp_path, spark)
    run(mapped(lambda row: [row], sink), tmp_path, spark)
    assert sorted(row["value"] for row in sink.rows()) == list(range(10))
    assert not sink.repeated
