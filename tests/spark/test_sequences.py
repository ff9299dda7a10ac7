"""Sequences on Spark: messages one at a time, in order, under every policy, and back to epochs."""

from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.core.errors import ExecutionError
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered, Rows, Script

pytestmark = pytest.mark.spark

FORMS = {"small": Options(), "cached": Options(small_bytes_max=0)}
"""Batches on the driver, and batches on executors: the rows must be the same."""

POLICIES = {
    "lazy": fk.lazy(),
    "lazy every 3": fk.lazy(every=3),
    "eager": fk.eager(),
    "history": fk.history(),
    "snapshot": fk.snapshot(every=3),
}

AMOUNTS = [5, -2, 7, 1, -4, 3, -6]
EPOCHS: list[Rows] = [[{"amount": amount}] for amount in AMOUNTS]


class Balance(fk.Processor):
    """Sends the balance after each message."""

    def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
        amount, before = total([batch]), total(ctx.state.visible())
        ctx.state.put(ctx.batch([{"amount": amount}]))
        ctx.send(ctx.batch([{"number": time.number, "amount": before + amount}]))

    def consolidate(self, ctx: fk.Context, batches: list[fk.Batch]) -> fk.Batch:
        return ctx.batch([{"amount": total(batches)}])


def total(batches: list[fk.Batch]) -> int:
    return sum(row["amount"] for batch in batches for row in batch.arrow().to_pylist())


class Stumbling(Balance):
    """Fails at one message, whatever is tried."""

    def __init__(self, at: int | None) -> None:
        self.at = at

    def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
        if time.number == self.at:
            raise ExecutionError("stumbled")
        super().on_message(ctx, port, time, batch)


def balances(
    sink: Remembered,
    policy: fk.Policy,
    epochs: list[Rows] = EPOCHS,
    stumble: int | None = None,
) -> fk.Dataflow:
    """Two balances in a row; with snapshots they are a region, and what is between is in it."""
    flow = fk.Dataflow("balances")
    numbered = flow.read(Script(epochs), name="amounts").in_sequence()
    first = numbered.process(Balance(), name="first", policy=policy)
    second = first.process(Stumbling(stumble), name="second", policy=policy)
    second.windows(count=2).write(sink, name="out")
    return flow


def expected(amounts: list[int] = AMOUNTS) -> dict[tuple[int], Rows]:
    """What the windows that are full show."""
    rows = [
        {"number": n, "amount": amount}
        for n, amount in enumerate(accumulate(accumulate(amounts)), start=1)
    ]
    return {
        (w,): sorted(rows[2 * w : 2 * w + 2], key=repr) for w in range(len(rows) // 2)
    }  # the last message is in an open window


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_balance_in_the_order_of_arrival(
    spark: SparkSession, tmp_path: Path, policy: fk.Policy, options: Options
) -> None:
    sink = Remembered()
    run(balances(sink, policy), tmp_path, spark, options=options)
    assert sink.times == expected()
    assert not sink.repeated


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_second_run_goes_on_with_the_next_number_and_the_open_window(
    spark: SparkSession, tmp_path: Path, policy: fk.Policy
) -> None:
    first, second = Remembered(), Remembered()
    run(balances(first, policy, EPOCHS[:3]), tmp_path, spark)
    assert first.times == expected(AMOUNTS[:3])
    run(balances(second, policy), tmp_path, spark)
    assert {**first.times, **second.times} == expected()
    assert not set(first.times) & set(second.times)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_run_that_breaks_off_is_continued(
    spark: SparkSession, tmp_path: Path, policy: fk.Policy
) -> None:
    sink = Remembered()  # it would notice if what it was shown were contradicted
    with pytest.raises(ExecutionError, match=r"'second' failed at time .*number=4"):
        run(balances(sink, policy, stumble=4), tmp_path, spark)
    run(balances(sink, policy), tmp_path, spark)
    assert sink.times == expected()


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
def test_a_message_in_a_snapshot_has_one_content(
    spark: SparkSession, tmp_path: Path, options: Options
) -> None:
    """What is under way is in the snapshot, and two who receive it see the same (trap 9)."""
    policy, said, sums = fk.snapshot(every=2), Remembered(), Remembered()

    def noisy(stumble: int | None) -> fk.Dataflow:
        flow = fk.Dataflow("noise")
        numbered = flow.read(Script(EPOCHS), name="amounts").in_sequence()
        noise = numbered.select("CAST(rand() * 1e9 AS BIGINT) AS amount", policy=policy)
        noise.windows(count=2, name="said", policy=policy).write(said)
        added = noise.process(Stumbling(stumble), name="second", policy=policy)
        added.windows(count=2, name="added", policy=policy).write(sums)
        return flow

    with pytest.raises(ExecutionError, match="stumbled"):
        run(noisy(4), tmp_path, spark, options=options)
    run(noisy(None), tmp_path, spark, options=options)
    spoken = [sum(row["amount"] for row in said.times[(n,)]) for n in range(3)]
    assert [row["amount"] for row in sums.rows() if row["number"] % 2 == 0] == list(
        accumulate(spoken)
    )


def test_a_window_may_need_more_epochs_than_may_be_under_way(
    spark: SparkSession, tmp_path: Path
) -> None:
    sink, flow = Remembered(), fk.Dataflow("wide")
    numbered = flow.read(Script(EPOCHS), name="amounts").in_sequence()
    wide = numbered.process(Balance()).windows(count=6)
    wide.group_by("1 AS k").agg(most="max(amount)").write(sink, name="out")
    run(flow, tmp_path, spark, options=Options(epochs_ahead=2))
    assert sink.times == {(0,): [{"k": 1, "most": max(accumulate(AMOUNTS[:6]))}]}


class ByZero(fk.Processor):
    """Closes a window behind every amount below nought."""

    stateless = True

    def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
        ctx.send(batch)
        if total([batch]) < 0:
            ctx.close()


def test_windows_by_a_rule_of_the_user(spark: SparkSession, tmp_path: Path) -> None:
    sink = Remembered()
    for epochs in (EPOCHS[:3], EPOCHS):
        flow = fk.Dataflow("rule")
        numbered = flow.read(Script(epochs), name="amounts").in_sequence()
        numbered.windows(ByZero(), name="rule").write(sink, name="out")
        run(flow, tmp_path, spark)
    shown = [sorted(row["amount"] for row in sink.times[time]) for time in sorted(sink.times)]
    assert shown == [[-2, 5], [-4, 1, 7], [-6, 3]]
    assert not sink.repeated


class Opaque(fk.Processor):
    """A balance that is kept in the object."""

    opaque = True

    def __init__(self) -> None:
        self.balance = 0

    def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
        self.balance += total([batch])
        ctx.send(ctx.batch([{"number": time.number, "amount": self.balance}]))

    def checkpoint(self, frontier: Any) -> Any:
        return self.balance

    def restore(self, frontier: Any, saved: Any) -> None:
        self.balance = saved or 0


@pytest.mark.parametrize("policy", [fk.lazy(every=3), fk.eager()], ids=["lazy", "eager"])
def test_state_in_the_object(spark: SparkSession, tmp_path: Path, policy: fk.Policy) -> None:
    sink = Remembered()
    for epochs in (EPOCHS[:5], EPOCHS):
        flow = fk.Dataflow("opaque")
        numbered = flow.read(Script(epochs), name="amounts").in_sequence()
        numbered.process(Opaque(), policy=policy).windows(count=1).write(sink, name="out")
        run(flow, tmp_path, spark)
    assert [row["amount"] for row in sink.rows()] == list(accumulate(AMOUNTS))
    assert not sink.repeated


class Misplaced(fk.Processor):
    """Closes a window where there is none."""

    stateless = True

    def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
        ctx.send(batch)
        ctx.close()


def test_only_windows_can_be_closed(spark: SparkSession, tmp_path: Path) -> None:
    flow = fk.Dataflow("misplaced")
    numbered = flow.read(Script(EPOCHS), name="amounts").in_sequence()
    numbered.process(Misplaced(), name="here").windows(count=1).write(Remembered(), name="out")
    with pytest.raises(ExecutionError, match=r"'here' closed a window of .*, which has none"):
        run(flow, tmp_path, spark)


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
def test_totals_of_every_group_behind_windows(
    spark: SparkSession, tmp_path: Path, options: Options
) -> None:
    sink, flow = Remembered(), fk.Dataflow("totals")
    window = flow.read(Script(EPOCHS), name="amounts").in_sequence().windows(count=2)
    window.group_by("amount > 0 AS paid").agg(
        total="sum(amount)", mean="avg(amount)", every_group=True
    ).write(sink, name="out")
    run(flow, tmp_path, spark, options=options)
    assert sink.times == {
        (0,): [
            {"paid": False, "total": -2, "mean": -2.0},
            {"paid": True, "total": 5, "mean": 5.0},
        ],
        (1,): [
            {"paid": False, "total": -2, "mean": -2.0},
            {"paid": True, "total": 13, "mean": 13 / 3},
        ],
        (2,): [
            {"paid": False, "total": -6, "mean": -3.0},
            {"paid": True, "total": 16, "mean": 4.0},
        ],
    }
