"""Checkpoints that became durable together are told together, which only saves work."""

from collections import Counter
from copy import deepcopy

import pytest

from falkirk.core.machine.events import Acknowledge, Effect, Persisted, Release
from falkirk.testing.case import Case
from falkirk.testing.simulator import Simulation

SEEDS, EVERY = 30, 13


@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_it_is_as_if_they_were_told_one_by_one(first: int) -> None:
    """At many moments of runs with all their faults: the same state, shown and acknowledged."""
    seen: Counter[str] = Counter()
    for seed in range(first, first + 10):
        run = Case(seed).simulation()
        while run.advance():
            tickets = [write.ticket for write in run.writes]
            if len(tickets) < 2 or run.steps % EVERY:
                continue
            apart, together = deepcopy(run), deepcopy(run)
            one_by_one = [e for t in tickets for e in apart.machine.step(Persisted(t))]
            at_once = together.machine.step(Persisted(*tickets))
            assert standing(apart) == standing(together), (seed, run.steps)
            assert final(one_by_one) == final(at_once), (seed, run.steps)
            seen["moments"] += 1
            seen["steps spared"] += len(one_by_one) > len(at_once)
    assert seen["moments"] > 20, seen
    assert seen["steps spared"], seen


def standing(run: Simulation) -> dict[object, object]:
    """Where everybody stands, what is kept of it, and what is under way."""
    state = run.machine.state
    found: dict[object, object] = {}
    for p, ledger in state.ledgers.items():
        base, mine = ledger.base, state.standing[p]
        found[p] = (state.monitor.watermark(p), mine.saved, mine.growth, mine.held)
        if not state.is_output(p):  # which collects when all that it may show is taken
            found["kept", p] = (
                *(base.frontier, base.processed, base.notified, base.discarded, base.requests),
                sorted(map(repr, base.state)),  # in another order, if more is folded at once
                {time: record.state for time, record in ledger.records.items()},
            )
    found.update(state.channels.queues)
    found["open"] = sorted(ticket.effect.processor for ticket in state.tickets.values())
    return found


def final(effects: list[Effect]) -> dict[object, object]:
    """What was asked for in the end: the last of those that take the place of one another."""
    last: dict[object, object] = {}
    for effect in effects:
        match effect:
            case Acknowledge():
                last["acknowledge", effect.processor] = effect.frontier
            case Release():
                last["release", effect.processor, effect.time] = effect.incarnation
    return last
