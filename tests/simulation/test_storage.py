"""Storage and memory stay bounded in a run that never ends, whatever the flow (§4.2)."""

from collections import deque
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from tests.scale import QUICK, scaled

from falkirk.core.checkpoint import AnyFrontier
from falkirk.core.machine.events import Collect, CollectLog, Effect, Tick
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.machine.ledger import Base, Ledger
from falkirk.core.machine.rules import Rules
from falkirk.core.monitor import Monitor
from falkirk.core.policy import lazy
from falkirk.core.times import EdgeId
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
            self.step(Tick(self.now))
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
    """How many rows may be stored, whatever the number of epochs.

    An epoch is kept until it lies below the low-watermark. Those that are not are held open by one
    of the ``BACKLOG`` things that may wait to be done, or came after the last boundary that all
    have saved: intervals of 1, 2 and 3 meet every six epochs, and the clocks here are faster. Each
    costs a processor a record, a message in its log and a checkpoint. A loop has more times than
    one in an epoch, but then most of its flow has not.
    """
    return (BACKLOG + 6) * 3 * len(run.names)


FEW_FAULTS = Faults(4, 2, 2, 2, chance=0.002, ambushes=False)
"""Without pins, and without those who lie in wait until somebody has not saved: both keep much."""


@pytest.mark.parametrize("seed", sorted({*SEEDS, *DOMINO}))
@pytest.mark.parametrize("faults", [NO_FAULTS, FEW_FAULTS], ids=["no", "few"])
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


@pytest.mark.parametrize("seed", sorted({*SEEDS, 13}))
def test_those_who_save_by_the_clock_meet_too(seed: int) -> None:
    run = Ticking(clocked(long_scenario(seed)), seed, NO_FAULTS, backlog=BACKLOG)
    assert max(rows_over_time(run)) < bound(run)
    assert all(len(cuts) < 40 for cuts in run.machine.state.cuts.values())


# The check itself.


class Hoarding(Ticking):
    """A run in which nothing is ever collected."""

    def carry_out(self, effects: list[Effect]) -> None:
        """Forgets to collect."""
        super().carry_out([e for e in effects if not isinstance(e, Collect | CollectLog)])


@pytest.mark.parametrize("seed", [0, 1, 3, 13])
def test_without_collection_the_bound_would_not_hold(seed: int) -> None:
    run = Hoarding(long_scenario(seed), seed, NO_FAULTS, backlog=BACKLOG)
    assert max(rows_over_time(run)) > bound(run)


@pytest.mark.parametrize("seed", [0, 1, 3, 13])
def test_without_collection_the_bound_by_the_clock_would_not_hold(seed: int) -> None:
    run = Hoarding(clocked(long_scenario(seed)), seed, NO_FAULTS, backlog=BACKLOG)
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


def grows(seed: int, ledger: type[Ledger] = Ledger, monitor: type[Monitor] = Monitor) -> bool:
    """Whether the machine holds more in the last third of a long run than in the first.

    What grows with the epochs would be three times as large there. Everything is counted, whatever
    the machine will hold tomorrow.
    """
    run = Ticking(long_scenario(seed), seed, NO_FAULTS, backlog=BACKLOG)
    flow, state = run.scenario.flow, run.machine.state
    state.ledgers = {  # an output needs its own, or it would release what it has released
        p: (Ledger if state.is_output(p) else ledger).of(flow.graph, p) for p in flow.processors
    }
    nothing = {p: AnyFrontier(flow.graph.domains[p].empty) for p in flow.anywhere}
    state.monitor = monitor(flow.recovery, nothing)
    sizes: list[tuple[int, int]] = []
    while run.advance():
        if run.steps % 100 == 0:
            epochs = [run.machine.state.standing[p].epoch for p in run.scenario.inputs]
            if None not in epochs:
                sizes.append((min(epochs), size(vars(run.machine.state), set())))
    first = max(found for epoch, found in sizes if epoch < EPOCHS / 3)
    last = max(found for epoch, found in sizes if epoch >= EPOCHS * 2 / 3)
    return last >= 2 * first + 200


@pytest.mark.parametrize("seed", SEEDS)
def test_the_machine_does_not_grow_with_the_epochs(seed: int) -> None:
    assert not grows(seed)


class Unfolded(Ledger):
    """Keeps a record for every time."""

    def fold(self, watermark: Any, times: Iterable[Any]) -> None:
        """Folds nothing."""


class Uncut(Ledger):
    """Keeps all that was logged."""

    def forget_log(self, edge: EdgeId, reached: Any) -> bool:
        """Drops nothing."""
        return False


class Mindful(Monitor):
    """Keeps all checkpoints."""

    def _forget(self, p: int) -> None:
        """Forgets nothing."""


@pytest.mark.parametrize(
    ("ledger", "monitor"), [(Unfolded, Monitor), (Uncut, Monitor), (Ledger, Mindful)]
)
def test_without_pruning_the_machine_would_grow(
    ledger: type[Ledger], monitor: type[Monitor]
) -> None:
    assert any(grows(seed, ledger, monitor) for seed in range(4))
