"""Flows run on Spark from the first row to the last, and go on where they stopped."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.connectors import Files, Numbers, ParquetSink
from falkirk.core.errors import ExecutionError, PermanentError, StoreError
from falkirk.dataflow.connecting import Limit
from falkirk.inspection.state import read_table
from falkirk.runtime.aside import set_aside
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered, Rows, Script

pytestmark = pytest.mark.spark

WORDS = [
    [{"word": "a"}, {"word": "b"}, {"word": "a"}],
    [{"word": "b"}, {"word": None}],
    [],
    [{"word": "c"}, {"word": "a"}, {"word": None}],
    [{"word": "b"}],
]

FORMS = {"small": Options(), "cached": Options(small_bytes_max=0)}
"""Batches on the driver, and batches on executors: the rows must be the same."""


class Prompt(Remembered):
    """A sink that waits for no checkpoint."""

    exactly_once = False


def running_counts(epochs: list[Rows]) -> dict[tuple[int], Rows]:
    """What a running count shows at each time."""
    total: Counter[Any] = Counter()
    shown = {}
    for number, rows in enumerate(epochs):
        total.update(row["word"] for row in rows)
        touched = {row["word"] for row in rows}
        shown[(number,)] = sorted(
            ({"word": word, "count": total[word]} for word in touched), key=repr
        )
    return shown


def counting(sink: Remembered, policy: fk.Policy, epochs: list[Rows] = WORDS) -> fk.Dataflow:
    """A flow that counts words."""
    flow = fk.Dataflow("words")
    words = flow.read(Script(epochs), name="words")
    words.group_by("word").count(name="counts", policy=policy).write(sink, name="out")
    return flow


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "policy", [fk.lazy(), fk.lazy(every=3), fk.eager(), fk.history()], ids=lambda p: repr(p.regime)
)
def test_a_running_count(
    spark: SparkSession, tmp_path: Path, policy: fk.Policy, options: Options
) -> None:
    sink = Remembered()
    run(counting(sink, policy), tmp_path, spark, options=options)
    assert sink.times == running_counts(WORDS)
    assert not sink.repeated


def test_state_that_shares_a_file_is_read_and_gone_on_from(
    spark: SparkSession, tmp_path: Path
) -> None:
    """All epochs of a checkpoint are in one file, and each is told from the others."""
    sink = Remembered()
    run(counting(sink, fk.lazy(every=3), WORDS[:3]), tmp_path, spark)
    assert len(list((tmp_path / "data").glob("*.parquet"))) == 1
    came = [Counter(row["word"] for row in rows) for rows in WORDS[:3]]
    saved = {(str(t), word, n) for t, words in enumerate(came) for word, n in words.items()}
    frame = fk.read_state(tmp_path, "counts", spark).select("_time", "word", "count")
    assert {tuple(row) for row in frame.collect()} == saved
    table = read_table(str(tmp_path), "counts").select(["_time", "word", "count"])
    assert {tuple(row.values()) for row in table.to_pylist()} == saved
    run(counting(sink, fk.lazy(every=3)), tmp_path, spark)
    assert sink.times == running_counts(WORDS)


def test_at_its_end_a_run_waits_for_nothing_to_gather(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an hour between the store's transactions this would not end."""
    monkeypatch.setattr("falkirk.runtime.driver.GATHER_SECONDS", 3600.0)
    sink = Prompt()
    run(counting(sink, fk.lazy()), tmp_path, spark)
    assert sink.times == running_counts(WORDS)


def test_a_second_run_has_nothing_to_do(spark: SparkSession, tmp_path: Path) -> None:
    run(counting(Remembered(), fk.lazy()), tmp_path, spark)
    again = Remembered()
    run(counting(again, fk.lazy()), tmp_path, spark)
    assert not again.times


def test_a_second_run_goes_on_where_the_first_stopped(spark: SparkSession, tmp_path: Path) -> None:
    first, second = Remembered(), Remembered()
    run(counting(first, fk.lazy(every=2), WORDS[:2]), tmp_path, spark)
    run(counting(second, fk.lazy(every=2), WORDS), tmp_path, spark)
    assert {**first.times, **second.times} == running_counts(WORDS)
    assert not set(first.times) & set(second.times)


def test_inputs_are_acknowledged_in_order_and_to_the_end(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = Script(WORDS)
    flow = fk.Dataflow("words")
    flow.read(source).write(Remembered())
    run(flow, tmp_path, spark)
    assert source.committed == sorted(source.committed)
    assert source.committed[-1] == len(WORDS)


def test_another_flow_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    run(counting(Remembered(), fk.lazy()), tmp_path, spark)
    with pytest.raises(StoreError, match=r"counts.*regime"):
        run(counting(Remembered(), fk.eager()), tmp_path, spark)


def test_text_files_to_parquet(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, line in enumerate(["a b", "b c", "a a a"]):
        (folder / f"{number}.txt").write_text(line + "\n")
    flow = fk.Dataflow("files")
    lines = flow.read(Files(folder, format="text", order="name"), limit=Limit(files=1))
    words = lines.select("explode(split(value, ' ')) AS word")
    words.group_by("word").count().write(ParquetSink(tmp_path / "out"))
    run(flow, tmp_path / "state", spark)
    table = ds.dataset(tmp_path / "out", partitioning="hive").to_table()
    final = {
        row["word"]: row["count"] for row in sorted(table.to_pylist(), key=lambda r: r["epoch"])
    }
    assert final == {"a": 4, "b": 2, "c": 1}


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
def test_joins_unions_and_averages(spark: SparkSession, tmp_path: Path, options: Options) -> None:
    flow = fk.Dataflow("joins")
    numbers = flow.read(Numbers(rows=40, rows_per_epoch=10), name="numbers")
    even = numbers.where("value % 2 = 0").select("value", "value % 3 AS k")
    odd = numbers.where("value % 2 = 1").select("value AS other", "value % 3 AS k")
    sink, means = Remembered(), Remembered()
    even.join(odd, on=["k"]).write(sink, name="pairs")
    both = even.select("value").union(odd.select("other AS value"))
    both.group_by("value % 2 AS parity").agg(mean="avg(value)", n="count(*)").write(means)
    run(flow, tmp_path, spark, options=options)
    expected = [
        {"k": a % 3, "value": a, "other": b}
        for epoch in range(4)
        for a in range(epoch * 10, epoch * 10 + 10, 2)
        for b in range(epoch * 10 + 1, epoch * 10 + 10, 2)
        if a % 3 == b % 3
    ]
    assert sorted(sink.rows(), key=repr) == sorted(expected, key=repr)
    assert means.times[(3,)] == [
        {"parity": 0, "mean": 19.0, "n": 20},
        {"parity": 1, "mean": 20.0, "n": 20},
    ]


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
def test_a_loop(spark: SparkSession, tmp_path: Path, options: Options) -> None:
    """Collatz: every number goes around until it is 1."""

    def body(inner: Any) -> tuple[Any, Any]:
        stepped = inner.select(
            "start", "rounds + 1 AS rounds", "IF(n % 2 = 0, n DIV 2, 3 * n + 1) AS n"
        )
        return stepped.where("n > 1"), stepped.where("n = 1").select("start", "rounds")

    flow = fk.Dataflow("collatz")
    numbers = flow.read(Numbers(rows=9, rows_per_epoch=3)).where("value > 1")
    ready = numbers.select("value AS start", "value AS n", "CAST(0 AS BIGINT) AS rounds")
    sink = Remembered()
    ready.iterate(body, name="steps").write(sink)
    run(flow, tmp_path, spark, options=options)
    lengths = {row["start"]: row["rounds"] for row in sink.rows()}
    assert lengths == {2: 1, 3: 7, 4: 2, 5: 5, 6: 8, 7: 16, 8: 3}


class Doubling(fk.Processor):
    """Fails on one number, as often as it is told to."""

    stateless = True

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def on_message(self, ctx: Any, port: int, time: Any, batch: Any) -> None:
        rows = batch.arrow().to_pylist()
        if any(row["value"] == 7 for row in rows) and self.failures:
            self.failures -= 1
            raise ValueError("seven")
        ctx.send(ctx.batch([{"value": row["value"] * 2} for row in rows]))


def doubling(failures: int, sink: Remembered) -> fk.Dataflow:
    """A flow with a processor that fails."""
    flow = fk.Dataflow("doubling")
    numbers = flow.read(Numbers(rows=12, rows_per_epoch=3), name="numbers")
    numbers.process(Doubling(failures), name="double").write(sink, name="out")
    return flow


def test_user_code_that_fails_once_is_tried_again(spark: SparkSession, tmp_path: Path) -> None:
    sink = Remembered()
    report = run(doubling(1, sink), tmp_path, spark)
    assert sorted(row["value"] for row in sink.rows()) == [2 * n for n in range(12)]
    assert report.retries == 1
    assert not report.recoveries


def test_user_code_that_keeps_failing_stops_the_flow_and_loses_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    sink = Remembered()
    with pytest.raises(
        ExecutionError, match=r"test_running.py:\d+: 'double' failed at time \(2,\)"
    ) as e:
        run(doubling(100, sink), tmp_path, spark)
    assert "{'value': 7}" in str(e.value)
    assert "ValueError: seven" in str(e.value)
    run(doubling(0, sink), tmp_path, spark)
    assert sorted(row["value"] for row in sink.rows()) == [2 * n for n in range(12)]


def test_a_poisonous_batch_can_be_set_aside(spark: SparkSession, tmp_path: Path) -> None:
    flow, sink = fk.Dataflow("doubling"), Remembered()
    numbers = flow.read(Numbers(rows=12, rows_per_epoch=3), name="numbers")
    policy = fk.lazy().setting_aside()
    numbers.process(Doubling(100), name="double", policy=policy).write(sink, name="out")
    report = run(flow, tmp_path, spark)
    kept = [n for n in range(12) if n not in (6, 7, 8)]
    assert sorted(row["value"] for row in sink.rows()) == [2 * n for n in kept]
    assert report.set_aside == [("double", (2,))]
    (aside,) = set_aside(flow, tmp_path)
    assert aside.processor == "double"
    assert aside.rows.to_pylist() == [{"value": 6}, {"value": 7}, {"value": 8}]


class Revoked(Numbers):
    """A source that may not be read any more."""

    def latest(self, start: int, limit: Limit) -> int:
        raise PermanentError("the password has expired")


def test_a_source_that_gives_up_stops_the_flow_with_an_error_of_its_kind(
    spark: SparkSession, tmp_path: Path
) -> None:
    flow = fk.Dataflow("revoked")
    flow.read(Revoked(rows=5), name="numbers").write(Remembered(), name="out")
    said = r"test_running.py.*'numbers' could not be read.*: the password has expired\. Nothing is"
    with pytest.raises(PermanentError, match=said):
        run(flow, tmp_path, spark)


def test_a_plan_that_spark_refuses_names_the_processor_that_made_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    flow = fk.Dataflow("wrong")
    wrong = flow.read(Numbers(rows=3)).select("no_such_column", name="wrong")
    wrong.where("true").write(Remembered())
    said = r"'wrong' failed at time \(0,\), on a batch from .*no_such_column"
    with pytest.raises(ExecutionError, match=said):
        run(flow, tmp_path, spark)


def test_what_goes_two_ways_is_evaluated_once(spark: SparkSession, tmp_path: Path) -> None:
    flow = fk.Dataflow("once")
    random = flow.read(Numbers(rows=30, rows_per_epoch=10)).select("value", "rand() AS r")
    left, right = Remembered(), Remembered()
    random.write(left, name="left")
    random.write(right, name="right")
    run(flow, tmp_path, spark)
    assert left.times == right.times
