"""How many Spark jobs, files and transactions an epoch costs, for each policy.

Counts are stable where times are not. The table in docs/internals/runtime.md says the same.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.java_gateway import GatewayClient
from pyspark.sql import SparkSession
from tests.spark.costs import Cost, costs

import falkirk as fk
from falkirk import lindi
from falkirk.connectors import Files, Numbers
from falkirk.connectors.listing import FEW, THRESHOLD
from falkirk.dataflow.connecting import Limit
from falkirk.demo.figure_1.flow import ALL, FRESH, Once, answered
from falkirk.runtime.content import STEPS_MAX
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.runtime.tasks import AWAITED
from falkirk.runtime.warming import warm_up
from falkirk.testing.script import Remembered, Script

pytestmark = pytest.mark.spark

EPOCHS = 6
"""Too few for runs of a trace to be merged, which would write them once more."""
CALLS = 34
"""To read a file, to filter and to group its rows, and to fetch the result."""
Shape = Callable[[fk.Stream], list[fk.Stream]]
"""What is made of the numbers: the streams that are written."""


@contextmanager
def jobs_of(spark: SparkSession) -> Iterator[list[int]]:
    """The number of jobs that were run inside, when it is left."""
    with stages_of(spark) as stages:
        counted: list[int] = []
        yield counted
    counted.append(len(stages))


@contextmanager
def stages_of(spark: SparkSession) -> Iterator[list[list[int]]]:
    """The numbers of tasks in the stages of each job that was run inside, when it is left."""
    tracker = spark.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup())
    found: list[list[int]] = []
    yield found
    for number in sorted(set(tracker.getJobIdsForGroup()) - before):
        job = tracker.getJobInfo(number)
        stages = [tracker.getStageInfo(each) for each in (job.stageIds if job else ())]
        found.append([stage.numTasks for stage in stages if stage is not None])


def cost(
    spark: SparkSession, folder: Path, shape: Shape, sink: Callable[[], Any] = Remembered
) -> Cost:
    """What an epoch costs; all of them cost the same."""
    flow = fk.Dataflow("cost")
    numbers = flow.read(Numbers(rows=EPOCHS * 100, rows_per_epoch=100), name="numbers")
    for number, stream in enumerate(shape(numbers)):
        stream.write(sink(), name=f"out-{number}")
    first, *others = costs(spark, folder, flow, "numbers")
    assert others == [first] * (EPOCHS - 2)
    return first


def chain(numbers: fk.Stream) -> list[fk.Stream]:
    """Ten stateless steps."""
    for step in range(10):
        numbers = numbers.select(f"value + {step} AS value")
    return [numbers]


def long_chain(numbers: fk.Stream) -> list[fk.Stream]:
    """So many stateless steps that their plan is cut twice."""
    for _ in range(2 * STEPS_MAX + 10):
        numbers = numbers.where("value >= 0")
    return [numbers]


def logged(numbers: fk.Stream) -> list[fk.Stream]:
    """A firewall in the middle of stateless steps (§4.1)."""
    return [numbers.select("value + 1 AS value", policy=fk.batch()).where("value > 0")]


def fan(numbers: fk.Stream) -> list[fk.Stream]:
    """One result, two ways."""
    doubled = numbers.select("2 * value AS value")
    return [doubled, doubled.where("true")]


def totals(policy: fk.Policy) -> Shape:
    """A running aggregate."""

    def shape(numbers: fk.Stream) -> list[fk.Stream]:
        kept = numbers.where("value % 3 = 0")
        return [kept.group_by("value % 7 AS k").agg(n="count(*)", s="sum(value)", policy=policy)]

    return shape


class Keep(fk.Processor):
    """Keeps every message, and sends it on."""

    def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
        ctx.state.put(batch.materialise())
        ctx.send(batch)


def cut(numbers: fk.Stream) -> list[fk.Stream]:
    """A snapshot after each message."""
    kept = numbers.in_sequence().process(Keep(), name="kept", policy=fk.snapshot())
    return [kept.windows(count=1)]


@pytest.mark.parametrize(
    ("shape", "jobs", "files", "transactions"),
    [
        # The sink's staging evaluates the fused plan, and writes the rows that it stages. The
        # input saves where it stands.
        pytest.param(chain, 1, 1, 2, id="ephemeral"),
        # A plan of hundreds of steps would take Spark longer than to fix its rows now and then.
        pytest.param(long_chain, 3, 1, 2, id="hundreds of ephemeral ones"),
        # The log needs the rows, and so does the sink after the last step.
        pytest.param(logged, 2, 2, 3, id="batch"),
        # Rows that go two ways are fixed once, and stored once; the second way has a step more.
        pytest.param(fan, 2, 2, 3, id="fan-out"),
        # One job for the partial aggregate. The delta is stored, and the totals by the sink.
        pytest.param(totals(fk.lazy()), 1, 2, 3, id="lazy"),
        # What an eager processor logs is what the sink stages: one file for both.
        pytest.param(totals(fk.eager()), 1, 2, 3, id="eager"),
        # The history has the rows that came in. The delta is stored only when the history that it
        # can be had from is truncated at the low-watermark.
        pytest.param(totals(fk.history()), 2, 3, 3, id="history"),
        # A cut after each message, which is state here and staged there: one file. Those who number
        # messages and who make windows of them save how far they are.
        pytest.param(cut, 1, 1, 5, id="snapshot"),
        # What is not promised is that messages come once; state is saved.
        pytest.param(totals(fk.at_least_once()), 1, 2, 3, id="at least once"),
    ],
)
def test_what_an_epoch_costs(
    spark: SparkSession, tmp_path: Path, shape: Shape, jobs: int, files: int, transactions: int
) -> None:
    assert cost(spark, tmp_path, shape) == Cost(jobs, files, transactions)


def test_a_checkpoint_of_several_epochs_is_one_file(spark: SparkSession, tmp_path: Path) -> None:
    flow = fk.Dataflow("sparse")
    numbers = flow.read(Numbers(rows=600, rows_per_epoch=100), name="numbers")
    [stream] = totals(fk.lazy(every=3))(numbers)
    stream.write(fk.Function(lambda time, _: None), name="out")
    assert [each.files for each in costs(spark, tmp_path, flow, "numbers")] == [0, 0, 1, 0, 0]


def test_an_at_least_once_sink_has_nothing_written(spark: SparkSession, tmp_path: Path) -> None:
    """Ten steps and a sink that promises nothing: one job, and no rows in the store."""
    shown = list[Any]()
    found = cost(spark, tmp_path, chain, lambda: fk.Function(lambda time, _: shown.append(time)))
    assert found == Cost(jobs=1, files=0, transactions=2)
    assert sorted(shown) == [(epoch,) for epoch in range(EPOCHS)]


def test_few_keys_of_large_state_are_fetched_by_the_job_that_finds_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    """One job groups the rows of the epoch, one broadcasts their keys, one merges what it finds."""

    def jobs(epochs: int) -> int:
        many = [{"key": key} for key in range(20_000)]
        few = [[{"key": 7 * epoch + n} for n in range(3)] for epoch in range(epochs)]
        flow, sink = fk.Dataflow("few"), Remembered()
        rows = flow.read(Script([many, *few]), name="rows")
        rows.group_by("key").count(policy=fk.lazy(every=100)).write(sink, name="out")
        options = Options(small_bytes_max=20_000, epochs_ahead=1)
        with jobs_of(spark) as found:
            run(flow, tmp_path / str(epochs), spark, options=options)
        assert [row["count"] for row in sink.rows()[20_000:]] == [2] * 3 * epochs
        return found[0]

    assert jobs(6) - jobs(3) == 3 * 3


@pytest.mark.parametrize("many", [10, 1_000_000])
def test_a_small_table_is_read_once(spark: SparkSession, tmp_path: Path, many: int) -> None:
    """By one job, and no epoch after the first runs another one to broadcast it.

    Whatever one task does need not have it, whether that is few rows or 8 MB.
    """
    flow, sink = fk.Dataflow("table"), Remembered()
    rows = lindi.rows(flow.read(Numbers(rows=EPOCHS * many, rows_per_epoch=many), name="numbers"))
    known = rows.join_table(
        lambda s: s.range(0, EPOCHS * many, many // 10).toDF("value").cache(), on="value"
    )
    known.write(sink)
    found = costs(spark, tmp_path, flow, "numbers")
    assert [each.jobs for each in found] == [2, *[1] * (EPOCHS - 2)]
    assert len(sink.rows()) == EPOCHS * 10


@pytest.mark.parametrize(
    "source",
    [
        Numbers(rows=EPOCHS * 10, rows_per_epoch=10),
        Script([[{"value": 10 * epoch + n} for n in range(10)] for epoch in range(EPOCHS)]),
    ],
    ids=["plan", "table"],
)
def test_rows_that_meet_a_version_are_evaluated_once(
    spark: SparkSession, tmp_path: Path, source: Any
) -> None:
    """Two joins with versions are one job: the rows pass through both as a plan."""
    flow, sink = fk.Dataflow("versions"), Remembered()
    joined = flow.read(source, name="fast")
    for number in range(2):
        rows = [{"value": value, f"w{number}": 100 * number + value} for value in range(99)]
        slow = flow.read(Script([rows]), name=f"slow-{number}")
        joined = joined.join_latest(slow, on="value", name=f"joined-{number}")
    joined.write(sink, name="out")
    found = costs(spark, tmp_path, flow, "fast")
    assert [each.jobs for each in found] == [1] * (EPOCHS - 1)
    assert sink.rows() == [{"value": n, "w0": n, "w1": 100 + n} for n in range(EPOCHS * 10)]


def test_the_answers_of_an_epoch_of_figure_1_are_one_job(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Also when some were given before: those are joined in the same plan, and without a shuffle.

    Spark takes three joins of a few rows to be many gigabytes large.
    """
    epochs = [
        [{"user": n, "_request": n, "_key": f"{key}"} for key in (n, n - 1)] for n in range(EPOCHS)
    ]
    ranks = [{"user": n, "views": 1, "rank": n, "ranks_version": 3} for n in range(500)]
    circles = [{"user": n, "circle": -n, "circles_version": 5} for n in range(500)]
    flow, answers, fresh = fk.Dataflow("once"), Remembered(), Remembered()
    slow = (flow.read(Script([each]), name=n) for n, each in (("r", ranks), ("c", circles)))
    once = answered(flow.read(Script(epochs), name="asked"), *slow).process(
        Once(), name="once", policy=fk.eager()
    )
    once.port(ALL).write(answers, name="answers")
    once.port(FRESH).write(fresh, name="fresh")
    with stages_of(spark) as stages:
        found = costs(spark, tmp_path, flow, "asked")
    assert [each.jobs for each in found] == [1] * (EPOCHS - 1)
    assert stages == [[1]] * EPOCHS, "one stage of one task"
    assert (len(answers.rows()), len(fresh.rows())) == (2 * EPOCHS, EPOCHS + 1)
    assert {(each["user"], each["rank"], each["circle"]) for each in fresh.rows()} == {
        (n, n, -n) for n in range(EPOCHS)
    }


def test_jobs_for_those_who_wait_have_a_pool_of_their_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Under Spark's FAIR mode they get the next free core, and queue behind nobody."""
    flow, pools = fk.Dataflow("pools"), dict[str, set[Any]]()

    class Awaited(Script):
        awaited = False

    class Look(fk.Processor):
        def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
            pool = ctx.session.sparkContext.getLocalProperty("spark.scheduler.pool")
            pools.setdefault(batch.arrow()["name"][0].as_py(), set()).add(pool)

    for name, source in (("asked", Awaited), ("computed", Script)):
        rows = flow.read(source([[{"name": name}]] * EPOCHS), name=name)
        rows.process(Look(), name=f"look-{name}").write(Remembered(), name=f"out-{name}")
    run(flow, tmp_path, spark, options=Options(concurrent_jobs=2))
    assert pools == {"asked": {AWAITED}, "computed": {None}}


def test_executors_are_warmed_up_by_a_task_for_each(spark: SparkSession) -> None:
    """One job in one stage, so that all of its tasks are there at once and are spread."""
    with stages_of(spark) as stages:
        warm_up(spark, 3)
    assert stages == [[3]]


@contextmanager
def calls_to_spark() -> Iterator[list[str]]:
    """The commands that were sent to Spark's JVM inside.

    Without those that let go of Spark's objects: when that happens is up to Python.
    """
    found: list[str] = []
    send = GatewayClient.send_command

    def sending(self: Any, command: str, *args: Any, **options: Any) -> Any:
        if not command.startswith("m\n"):
            found.append(command)
        return send(self, command, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GatewayClient, "send_command", sending)
        yield found


def test_how_often_spark_is_called(spark: SparkSession, tmp_path: Path) -> None:
    """A file, a filter and a running count: each call takes about a third of a millisecond."""

    def calls(files: int) -> int:
        place = tmp_path / str(files)
        (place / "in").mkdir(parents=True)
        for number in range(files):
            pq.write_table(pa.table({"k": [1, 2, 2], "n": [1, 2, 3]}), place / "in" / f"{number}")
        flow, sink = fk.Dataflow("calls"), Remembered()
        source = Files(place / "in", schema="k BIGINT, n BIGINT", order="name")
        rows = flow.read(source, name="rows", limit=Limit(files=1))
        rows.where("n > 1").group_by("k").count(policy=fk.eager()).write(sink, name="out")
        with calls_to_spark() as found:
            run(flow, place / "state", spark, options=Options(concurrent_jobs=1))
        assert len(sink.times) == files
        return len(found)

    calls(1)  # what is looked up once
    assert calls(6) - calls(3) == 3 * CALLS


def test_to_look_at_many_files_takes_no_job(spark: SparkSession, tmp_path: Path) -> None:
    before = spark.conf.get(THRESHOLD)
    (tmp_path / "in").mkdir()
    for number in range(2 * FEW):
        pq.write_table(pa.table({"n": [number]}), tmp_path / "in" / f"{number:03}")
    flow, sink = fk.Dataflow("many"), Remembered()
    source = Files(tmp_path / "in", schema="n BIGINT", order="name")
    flow.read(source, name="rows").select("n").write(sink, name="out")
    with jobs_of(spark) as jobs:
        run(flow, tmp_path / "state", spark)
    assert sorted(row["n"] for row in sink.rows()) == list(range(2 * FEW))
    assert jobs == [1]
    assert spark.conf.get(THRESHOLD) == before
