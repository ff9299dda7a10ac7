"""Whole runs in which somebody pins a moment and goes back to it, whatever else goes wrong.

The pin holds outputs back, so a run without failures shows the same as one that went back.
"""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from tests.scale import scaled

from falkirk.core.errors import RecoveryError
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import GoBack, Pin
from falkirk.core.machine.state import State
from falkirk.testing import striking
from falkirk.testing.scenarios import random_scenario
from falkirk.testing.simulator import Faults, Simulation

pytestmark = pytest.mark.simulation

FREE = Pin({})
RETURNS_MAX = 4
"""A run that goes back for ever would not end."""


class Pinned(Simulation):
    """A run that pins the present low-watermarks now and then, and goes back there later."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(random_scenario(seed), seed, Faults())
        self.chance, self.pin, self.returns, self.deepest = Random(seed), FREE, 0, 0
        monkeypatch.setattr(striking, "Machine", self.restarted)

    def restarted(self, flow: Any, stored: Any, rules: Any) -> Machine:
        return Machine(flow, stored, rules, pinned=self.pin)

    def advance(self) -> bool:
        chance = self.chance.random()
        if not self.pin.kept and chance < 0.05 and self.returns < RETURNS_MAX:
            state = self.machine.state
            present = {p: state.monitor.watermark(p) for p in self.names}
            self.pin = Pin(present, present)
            self.step(self.pin)
        elif self.pin.kept and chance < 0.02 and self.returns < RETURNS_MAX:
            self.go_back()
        elif self.pin.kept and chance < 0.03:
            self.unpin()
        return super().advance()

    def go_back(self) -> None:
        state = self.machine.state
        if state.suspected or self.replaying:
            return
        self.store_is_back()
        saving = [p for p in self.guard.chained if not state.flow.processors[p].policy.tainted]
        bounds = {p: self.pin.kept[p] for p in saving}
        below = any(not state.monitor.watermark(p) <= bounds[p] for p in saving)
        self.guard.before_failure(state)
        self.guard.watermarks.clear()
        self.flushed = False
        self.step(GoBack(bounds, bounds))
        self.returns += 1
        self.deepest += below

    def unpin(self) -> None:
        self.pin = FREE
        self.flushed = False
        self.step(FREE)

    def flush(self) -> bool:
        if self.pin.kept:
            self.unpin()
            return True
        return super().flush()


def run_all(seeds: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> list[Pinned]:
    runs = []
    for seed in seeds:
        run = Pinned(seed, monkeypatch)
        try:
            run.run()
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        runs.append(run)
    return runs


def test_nobody_outside_can_tell_that_a_flow_went_back_to_its_pin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = run_all(range(max(20, scaled(120))), monkeypatch)
    assert sum(run.deepest for run in runs), "below a low-watermark is where the pin matters"


def test_without_the_bound_there_is_nothing_to_go_back_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "collectable", lambda self, p: self.monitor.watermark(p))
    with pytest.raises(RecoveryError, match="cannot go back"):
        run_all(range(100), monkeypatch)
