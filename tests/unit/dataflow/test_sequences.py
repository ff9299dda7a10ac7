"""Sequences run through the real machine: in order, under every policy, through failures."""

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Any

import pytest
from tests.scale import scaled
from tests.unit.dataflow.ends import Sink, Source
from tests.unit.dataflow.frames import Frame, Row
from tests.unit.dataflow.running import Run
from tests.unit.dataflow.test_running import SEEDS, frame, run

import falkirk as fk
from falkirk.core.errors import DefinitionError
from falkirk.core.policy import Policy
from falkirk.core.times import Time
from falkirk.dataflow import Batch, Blueprint, Context, Dataflow, Processor, Stream

AMOUNTS = [1, 2, 3, 4, 5, 6, 7]
TOTALS = list(accumulate(AMOUNTS))


def amounts(*given: int) -> Frame:
    return frame("n", *((amount,) for amount in given))


ONE_BY_ONE = [amounts(n) for n in AMOUNTS]


class Balance(Processor):
    """Sends the total after each message."""

    def on_message(self, ctx: Context, port: int, time: Any, batch: Batch) -> None:
        before = sum(row["n"] for each in ctx.state.visible() for row in each.arrow())
        ctx.state.put(batch.materialise())
        ctx.send(ctx.batch(amounts(before + sum(row["n"] for row in batch.arrow()))))


def windowed(
    count: int,
    *,
    bridge: Policy | None = None,
    first: Policy | None = None,
    between: Policy | None = None,
    second: Policy | None = None,
    last: Policy | None = None,
) -> Dataflow:
    """Two balances with a transformation between them, and windows behind."""
    flow = fk.Dataflow("windowed")
    numbered = flow.read(Source(), name="in").in_sequence(policy=bridge)
    balance = numbered.process(Balance(), name="first", policy=first)
    same = balance.transform(lambda rows: rows, name="between", policy=between)
    again = same.process(Balance(), name="second", policy=second)
    again.windows(count=count, policy=last).write(Sink(), name="out")
    return flow


def in_windows(values: Sequence[int], count: int) -> dict[Time, list[Row]]:
    """What full windows of so many values show."""
    return {
        (w,): [{"n": n} for n in values[w * count : (w + 1) * count]]
        for w in range(len(values) // count)
    }


def shown(blueprint: Blueprint, epochs: Any, seed: int, failures: int) -> dict[Time, list[Row]]:
    found = Run(blueprint, {"in": epochs}, seed, failures).shown["out"]
    return {time: sorted(rows, key=lambda row: row["n"]) for time, rows in found.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_come_in_order_and_the_last_window_stays_open(seed: int) -> None:
    flow = fk.Dataflow("order")
    numbered = flow.read(Source(), name="in").in_sequence()
    numbered.process(Balance()).windows(count=3).write(Sink(), name="out")
    assert shown(flow.build(), ONE_BY_ONE, seed, 0) == in_windows(TOTALS, 3)


POLICIES: dict[str, list[Policy | None]] = {
    "bridge": [None, fk.lazy(2), fk.eager(), fk.batch(), fk.history()],
    "first": [None, fk.lazy(3), fk.eager(), fk.history(), fk.snapshot(3), fk.snapshot(2, "b")],
    "between": [None, fk.batch(), fk.lazy(2), fk.snapshot(3), fk.eager(), fk.history()],
    "second": [None, fk.lazy(2), fk.eager(), fk.history(), fk.snapshot(3), fk.snapshot(2, "b")],
    "last": [None, fk.ephemeral(), fk.lazy(2), fk.eager(), fk.history(), fk.snapshot(3)],
}


@pytest.mark.parametrize("seed", range(scaled(25)))
def test_failures_leave_no_trace_under_any_mixture_of_policies(seed: int) -> None:
    random = Random(seed)
    chosen = {place: random.choice(choices) for place, choices in POLICIES.items()}
    blueprint = windowed(2, **chosen).build()
    expected = in_windows(list(accumulate(TOTALS)), 2)
    for failures in (0, 3, 3):
        assert shown(blueprint, ONE_BY_ONE, random.getrandbits(30), failures) == expected, chosen


@pytest.mark.parametrize("seed", SEEDS)
def test_a_region_of_snapshots_loses_and_repeats_nothing(seed: int) -> None:
    cut = fk.snapshot(every=4)
    blueprint = windowed(2, first=cut, between=cut, second=cut, last=cut).build()
    assert {p.policy.region for p in blueprint.flow.processors.values()} == {"", "snapshot"}
    expected = in_windows(list(accumulate(TOTALS)), 2)
    assert shown(blueprint, ONE_BY_ONE, seed, 4) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_all_of_an_epoch_comes_before_any_of_the_next(seed: int) -> None:
    flow = fk.Dataflow("epochs")
    source = flow.read(Source(), name="in")
    twice = source.union(source.transform(lambda rows: rows))
    twice.in_sequence().windows(count=2).write(Sink(), name="out")
    assert shown(flow.build(), ONE_BY_ONE[:4], seed, 2) == {
        (n,): [{"n": n + 1}] * 2 for n in range(4)
    }


class Tagged(Processor):
    """Sends which port a message came on and what number it has."""

    stateless = True

    def on_message(self, ctx: Context, port: int, time: Any, batch: Batch) -> None:
        ctx.send(ctx.batch(frame("port number n", (port, time.number, batch.arrow()[0]["n"]))))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_port_counts_for_itself(seed: int) -> None:
    flow = fk.Dataflow("ports")
    left, right = (flow.read(Source(), name=name).in_sequence() for name in ("left", "right"))
    both = left.process(Tagged(), right).windows(count=1)
    both.transform(lambda rows: rows, whole=True).write(Sink(), name="out")
    given = {"left": [amounts(1), amounts(2)], "right": [amounts(7), amounts(8), amounts(9)]}
    found = [row for rows in run(flow, seed, **given).values() for row in rows]
    assert sorted((row["port"], row["number"], row["n"]) for row in found) == [
        (0, 1, 1),
        (0, 2, 2),
        (1, 1, 7),
        (1, 2, 8),
        (1, 3, 9),
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_union_of_sequences_keeps_the_order_of_each(seed: int) -> None:
    flow = fk.Dataflow("union")
    left, right = (flow.read(Source(), name=name).in_sequence() for name in ("left", "right"))
    left.union(right).windows(count=1).write(Sink(), name="out")
    found = run(flow, seed, left=ONE_BY_ONE[:3], right=[amounts(8), amounts(9)])
    values = [row["n"] for time in sorted(found) for row in found[time]]
    assert [n for n in values if n < 8] == [1, 2, 3]
    assert [n for n in values if n >= 8] == [8, 9]


class Stops(Processor):
    """Closes a window behind every even amount; with ``named`` it says which."""

    outputs = 2

    def __init__(self, named: bool) -> None:
        self.named = named

    def on_message(self, ctx: Context, port: int, time: Any, batch: Batch) -> None:
        even = batch.arrow()[0]["n"] % 2 == 0
        closed = len(ctx.state.visible("closed"))
        for output in range(2):
            ctx.send(batch, (closed,) if self.named else None, output)
            if even:
                ctx.close(closed if self.named else None, output)
        if even:
            ctx.state.put(batch, label="closed")


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("policy", [None, fk.eager(), fk.history(), fk.snapshot(2)])
def test_a_processor_of_the_user_closes_windows(named: bool, policy: Policy | None) -> None:
    flow = fk.Dataflow("stops")
    numbered = flow.read(Source(), name="in").in_sequence()
    made = numbered.windows(Stops(named), name="stops", policy=policy)
    made.write(Sink(), name="other")
    made.port(1).write(Sink(), name="out")
    blueprint = flow.build()
    given = [amounts(n) for n in (1, 3, 2, 4, 5, 7, 6, 9)]
    for seed in SEEDS:
        found = Run(blueprint, {"in": given}, seed, failures=2).shown
        for sink in ("out", "other"):
            assert {
                time: sorted(row["n"] for row in rows) for time, rows in found[sink].items()
            } == {(0,): [1, 2, 3], (1,): [4], (2,): [5, 6, 7]}


class Splits(Processor):
    """Closes two windows at once, and sends into both and into the next."""

    stateless = True

    def on_message(self, ctx: Context, port: int, time: Any, batch: Batch) -> None:
        for _ in range(2):
            ctx.send(batch)
            ctx.close()
        ctx.send(batch)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_sent_behind_a_close_goes_into_the_next_window(seed: int) -> None:
    flow = fk.Dataflow("splits")
    numbered = flow.read(Source(), name="in").in_sequence()
    numbered.windows(Splits()).write(Sink(), name="out")
    assert shown(flow.build(), ONE_BY_ONE[:2], seed, 2) == {
        (0,): [{"n": 1}],
        (1,): [{"n": 1}],
        (2,): [{"n": 1}, {"n": 2}],
        (3,): [{"n": 2}],
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_are_epochs_for_all_that_follows(seed: int) -> None:
    flow = fk.Dataflow("behind")
    window = flow.read(Source(), name="in").in_sequence().windows(count=2)

    def halved(inner: Stream) -> tuple[Stream, Stream]:
        fewer = inner.transform(lambda rows: Frame(["n"], [r for r in rows.rows if r["n"] > 2]))
        return fewer.transform(lambda rows: amounts(*(r["n"] - 2 for r in rows.rows))), inner

    looped = window.iterate(halved)
    looped.group_by("n").count().write(Sink(), name="out")
    assert run(flow, seed, **{"in": ONE_BY_ONE[:5]}) == {
        (0,): [{"n": 1, "count": 1}, {"n": 2, "count": 1}],
        (1,): [{"n": n, "count": 2 if n < 3 else 1} for n in (1, 2, 3, 4)],
    }


class Asks(Processor):
    """Asks for what there is not."""

    def __init__(self, ask: str) -> None:
        self.ask = ask

    def on_message(self, ctx: Context, port: int, time: Any, batch: Batch) -> None:
        if self.ask == "notify":
            ctx.notify()
        else:
            ctx.close(-1)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ("notify", "sequence numbers, which need no notifications"),
        ("close", "closed epoch -1 of .*, which it does not hold open"),
    ],
)
def test_what_cannot_be_done_in_sequence_is_refused_when_it_is_done(ask: str, message: str) -> None:
    flow = fk.Dataflow("asks")
    flow.read(Source(), name="in").in_sequence().windows(Asks(ask)).write(Sink(), name="out")
    with pytest.raises(DefinitionError, match=message):
        run(flow, 0, **{"in": ONE_BY_ONE})
