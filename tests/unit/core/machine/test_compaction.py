"""Compaction: times of folded state that no event to come can tell apart."""

from itertools import product
from random import Random
from typing import Any

import pytest
from tests.paper.flows import flow_of

from falkirk.core import Order, ProductFrontier, Structured, TotalFrontier
from falkirk.core.machine.compaction import floor_of, least_outside, representative
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Collect, Compacted
from falkirk.core.machine.releasing import taken
from falkirk.core.order import product_leq
from falkirk.core.policy import batch, history, lazy
from falkirk.core.times import INF, SequenceNumber

GRID = list(product(range(5), repeat=2))


def frontiers(order: Order) -> list[Any]:
    random, found = Random(7), []
    for _ in range(40):
        times = [(random.randint(0, 3), random.choice((0, 1, 2, 3, INF))) for _ in range(3)]
        count = random.randint(0, 3)
        if order is Order.LEX:
            found.append(TotalFrontier(max(times[:count], default=())))
        else:
            found.append(ProductFrontier(times[:count]))
    return found


@pytest.mark.parametrize("order", list(Order))
def test_the_least_times_outside_a_frontier(order: Order) -> None:
    for frontier in frontiers(order):
        outside = [time for time in GRID if time not in frontier]
        least = least_outside(Structured(2, order), frontier)
        for time in GRID:
            assert (time in outside) == any(product_leq(f, time) for f in least), frontier


def told(time: Any, event: Any) -> Any:
    """What an event can see of a time: whether it is past, and which coordinates they share."""
    return product_leq(time, event), tuple(a == b for a, b in zip(time, event, strict=True))


@pytest.mark.parametrize("order", list(Order))
def test_no_event_to_come_tells_a_time_from_its_representative(order: Order) -> None:
    for frontier in frontiers(order):
        if not (askable := least_outside(Structured(2, order), frontier)):
            continue
        outside = [time for time in GRID if time not in frontier]
        for time in (time for time in GRID if time in frontier):
            chosen = representative(time, floor_of(askable))
            assert chosen in frontier, "it is past"
            assert all(told(time, event) == told(chosen, event) for event in outside)


@pytest.mark.parametrize("order", list(Order))
def test_two_times_that_nobody_tells_apart_have_one_representative(order: Order) -> None:
    for frontier in frontiers(order):
        if not (askable := least_outside(Structured(2, order), frontier)):
            continue
        outside = [time for time in product(range(9), repeat=2) if time not in frontier]
        groups: dict[Any, set[Any]] = {}
        for time in (time for time in GRID if time in frontier):
            seen = tuple(told(time, event) for event in outside)
            groups.setdefault(seen, set()).add(representative(time, floor_of(askable)))
        assert all(len(found) == 1 for found in groups.values())


def test_a_change_of_this_epoch_is_not_merged_with_one_before() -> None:
    """What came at (3, 5) and at (4, 2) meets at (4, 5): nothing came in epoch 4 at (3, 5)."""
    floor = floor_of(least_outside(Structured(2), TotalFrontier((4, 3))))
    assert representative((3, 2), floor) == representative((1, 2), floor) == (3, 2)
    assert representative((4, 2), floor) == (4, 2)


def machine_with_base(times: list[Any], frontier: Any, **policies: Any) -> Machine:
    flow = flow_of({"in": batch(), "p": policies.get("p", lazy())}, a="in > p")
    machine = Machine(flow)
    base = machine.state.ledgers["p"].base
    base.state, base.frontier = [(time, f"s{time}") for time in times], frontier
    return machine


def test_epochs_become_one() -> None:
    machine = machine_with_base([(0,), (1,), (3,)], TotalFrontier((3,)))
    entries = tuple(machine.state.ledgers["p"].base.state)
    assert machine.compactable("p") == [((3,), entries)], "a time of the past: (4,) is to come"
    effects = machine.step(Compacted("p", entries, (((3,), "all"),)))
    assert effects == [Collect("p", TotalFrontier((3,)), (), (((3,), "all"),))]
    assert machine.compactable("p") == []
    assert machine.state.ledgers["p"].trace((4,)) == [((3,), "all")]


def test_what_is_gone_cannot_be_compacted() -> None:
    machine = machine_with_base([(0,), (1,)], TotalFrontier((3,)))
    entries = tuple(machine.state.ledgers["p"].base.state)
    base = machine.state.ledgers["p"].base
    base.state = [*base.state[:1], ((1,), "".join(["s", "(1,)"]))]
    assert machine.step(Compacted("p", entries, (((3,), "all"),))) == []
    assert len(base.state) == 2


def test_a_history_that_may_run_again_can_still_tell_times_apart() -> None:
    machine = machine_with_base([(0,), (1,), (3,)], TotalFrontier((3,)), p=history())
    machine.state.ledgers["p"].at((2,))
    assert [(time, len(group)) for time, group in machine.compactable("p")] == [((1,), 2)]


def test_with_sequence_numbers_everything_is_seen() -> None:
    machine = machine_with_base([], TotalFrontier())
    ledger = machine.state.ledgers["p"]
    ledger.base.state = [(SequenceNumber("a", n), n) for n in (1, 2)]
    assert len(ledger.trace(SequenceNumber("a", 1))) == 2


def test_an_event_sees_merged_runs_that_bear_its_time_apart_from_what_others_keep_there() -> None:
    machine = machine_with_base([(1,), (3,)], TotalFrontier((3,)))
    ledger = machine.state.ledgers["p"]
    for time in ((3,), (4,)):
        ledger.at(time).state = [f"own{time}"]
    merged = [((1,), ("s(1,)",)), ((3,), ("s(3,)",))]
    assert ledger.earlier((3,)) == merged
    assert ledger.earlier((4,)) == [*merged, ((3,), ["own(3,)"])]
    for time in ((3,), (4,)):
        seen = [(when, batch) for when, batches in ledger.earlier(time) for batch in batches]
        own = [(time, batch) for batch in ledger.at(time).state]
        assert seen + own == ledger.trace(time)


def test_an_event_gets_what_was_kept_as_it_lies_there_and_it_stays_as_it_was() -> None:
    machine = machine_with_base([], TotalFrontier())
    ledger, standing = machine.state.ledgers["p"], machine.state.standing["p"]
    ledger.at((0,)).state, standing.released[0,] = ["shown", "since"], 1
    ((_, before),) = ledger.earlier((1,))
    assert before is ledger.at((0,)).state, "thousands of batches cost an event nothing"
    taken(machine.state, "p", (0,))
    assert (before, ledger.at((0,)).state) == (["shown", "since"], ["since"])
