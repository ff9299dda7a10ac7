"""Storage and memory stay bounded in a run that never ends, whatever the flow (§4.2)."""

from collections import deque
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from tests.scale import QUICK, scaled

from falkirk.core.machine.events import Collect, CollectLog, Effect
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.machine.ledger import Base
from falkirk.core.machine.rules import Rules
from falkirk.core.monitor import Monitor
from falkirk.core.policy import lazy
from falkirk.testing.faults import NO_FAULTS, Faults
from falkirk.testing.logic import Items
from falkirk.testing.scenarios import random_scenario
from falkirk.testing.simulator import Scenario, Simulation

pytestmark = [pytest.mark.simulation, pytest.mark.slow]

EPOCHS = 60 if QUICK else 200
BACKLOG = 10
SEEDS = range(scaled(12) + 2)
DOMINO = (13, 30, 33)
"""Flows in which checkpoints at whatever is complete never meet, or meet by chance only."""


def long_scenario(seed: int, epochs: int = EPOCHS) -> Scenario:
    """A random flow with many epochs of one batch each before the last of its own."""
    scenario = random_scenario(seed)
    batches: list[list[Items]] = [[((f"long-{epoch}", epoch % 4, 0),)] for epoch in range(epochs)]
    return replace(scenario, inputs={p: batches + own[-1:] for p, own in scenario.inputs.items()})


class Ticking(Simulation):
    """A run in which some time passes with every step."""

    def advance(self) -> bool:
        """A step, and now and then a tick."""
        if self.steps % 10 == 0:
            self.now += 1
            self.machine.state.now = float(self.now)
        return super().advance()


def rows_over_time(run: Simulation) -> list[int]:
    """How much is stored, every few steps."""
    rows = []
    while run.advance():
        if run.steps % 25 == 0:
            rows.append(run.store.rows())
    run.check()
    return rows


def bound(run: Simulation) -> int:
    """How many rows may be stored: so many for each processor, and not one more for an epoch."""
    return 100 + 50 * len(run.names)


@pytest.mark.parametrize("seed", sorted({*SEEDS, *DOMINO}))
@pytest.mark.parametrize("faults", [NO_FAULTS, Faults(4, 2, 2, 2, chance=0.002)], ids=["no", "few"])
def test_what_is_stored_does_not_grow_with_the_epochs(seed: int, faults: Faults) -> None:
    run = Ticking(long_scenario(seed), seed, faults, backlog=BACKLOG)
    assert max(rows_over_time(run)) < bound(run)


# Checkpoints by the clock.


def clocked(scenario: Scenario) -> Scenario:
    """The scenario with every lazy processor saving by the clock, each at its own pace."""
    processors = []
    for i, each in enumerate(scenario.flow.processors.values()):
        policy = each.policy
        if policy.regime is lazy().regime and each.role is not Role.INPUT:
            policy = replace(policy, every=1, seconds=3.0 + i)
        processors.append(replace(each, policy=policy))
    flow = Flow(processors, scenario.flow.graph.edges.values(), scenario.flow.latest.values())
    return replace(scenario, flow=flow)


EQUAL_TAGS = pytest.mark.xfail(
    reason="in this one run two events, at epochs 34 and 147, draw the same random tag of 30 bits"
)
"""The outside check counts tags by label, so it takes the two events for one."""


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=EQUAL_TAGS) if s == 13 else s for s in SEEDS]
)
def test_those_who_save_by_the_clock_meet_too(seed: int) -> None:
    run = Ticking(clocked(long_scenario(seed)), seed, NO_FAULTS, backlog=BACKLOG)
    assert max(rows_over_time(run)) < 2 * bound(run)
    assert all(len(cuts) < 40 for cuts in run.machine.state.cuts.values())


# The check itself.


class Hoarding(Simulation):
    """A run in which nothing is ever collected."""

    def carry_out(self, effects: list[Effect]) -> None:
        """Forgets to collect."""
        super().carry_out([e for e in effects if not isinstance(e, Collect | CollectLog)])


@pytest.mark.parametrize("seed", [0, 1, 3, 13])
def test_without_collection_the_bound_would_not_hold(seed: int) -> None:
    run = Hoarding(long_scenario(seed, 200), seed, NO_FAULTS, backlog=BACKLOG)
    assert max(rows_over_time(run)) > bound(run)


# Memory.

FIXED = ("flow", "rules", "graph", "domain", "inputs", "outputs", "targets", "topology", "gather")


def size(value: Any, seen: set[int]) -> int:
    """How many things ``value`` holds, all the way down; a batch counts as one."""
    if id(value) in seen or isinstance(value, str | int | float | bool | type(None) | Rules):
        return 1
    seen.add(id(value))
    if isinstance(value, Base):
        return len(value.state) + len(value.requests) + 1
    if isinstance(value, dict):
        return sum(size(v, seen) for v in value.values()) + len(value)
    if isinstance(value, list | tuple | set | frozenset | deque):
        return sum(size(v, seen) for v in value) + 1
    if is_dataclass(value):
        return sum(size(getattr(value, f.name), seen) for f in fields(value))
    if isinstance(value, Monitor):
        facts = vars(value)["_trail"].facts
        return size(value.restorables, seen) + size(facts, seen)
    names = [n for kind in type(value).__mro__ for n in getattr(kind, "__slots__", ())]
    held = {name: getattr(value, name) for name in names} | getattr(value, "__dict__", {})
    return sum(size(v, seen) for name, v in held.items() if name not in FIXED)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_machine_does_not_grow_with_the_epochs(seed: int) -> None:
    """Everything that it holds is counted, whatever it will hold tomorrow."""
    run = Ticking(long_scenario(seed), seed, NO_FAULTS, backlog=BACKLOG)
    sizes: list[tuple[int, int]] = []
    while run.advance():
        if run.steps % 100 == 0:
            epochs = [run.machine.state.standing[p].epoch for p in run.scenario.inputs]
            if None not in epochs:
                sizes.append((min(epochs), size(vars(run.machine.state), set())))
    # What grows with the epochs would be three times as large in the last third.
    first = max(found for epoch, found in sizes if epoch < EPOCHS / 3)
    last = max(found for epoch, found in sizes if epoch >= EPOCHS * 2 / 3)
    assert last < 2 * first + 200
