"""Whole runs in which somebody pins a moment and goes back to it, whatever else goes wrong.

The pin holds outputs back, so a run without failures shows the same as one that went back.
"""

from collections.abc import Iterable
from random import Random

import pytest
from tests.scale import scaled

from falkirk.core.errors import RecoveryError
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.testing.faults import Fault, Trouble
from falkirk.testing.scenarios import random_scenario
from falkirk.testing.simulator import FREE, Faults, Simulation
from falkirk.testing.striking import strike

pytestmark = pytest.mark.simulation

PIN, RETURN = Fault(Trouble.PIN), Fault(Trouble.RETURN)
RETURNS_MAX = 4
"""A run that goes back for ever would not end."""


class Pinned(Simulation):
    """A run that pins the present low-watermarks now and then, and goes back there later."""

    def __init__(self, seed: int, rules: Rules = ALL_RULES) -> None:
        super().__init__(random_scenario(seed), seed, Faults(ambushes=False), rules)
        self.chance = Random(seed)

    def advance(self) -> bool:
        chance, returns = self.chance.random(), self.seen[Trouble.RETURN.value]
        if self.pin is FREE and chance < 0.05 and returns < RETURNS_MAX:
            strike(self, PIN)
        elif self.pin is not FREE and chance < 0.02 and returns < RETURNS_MAX:
            self.flushed = False
            strike(self, RETURN)
        elif self.pin is not FREE and chance < 0.03:
            self.pin_to(FREE)
        return super().advance()


def run_all(seeds: Iterable[int], rules: Rules = ALL_RULES) -> list[Pinned]:
    runs = []
    for seed in seeds:
        run = Pinned(seed, rules)
        try:
            run.run()
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        runs.append(run)
    return runs


def test_nobody_outside_can_tell_that_a_flow_went_back_to_its_pin() -> None:
    runs = run_all(range(max(20, scaled(120))))
    below = sum(run.seen["went back below low-watermarks"] for run in runs)
    assert below, "below a low-watermark is where the pin matters"


def test_without_the_bound_there_is_nothing_to_go_back_to() -> None:
    with pytest.raises(RecoveryError, match="cannot go back"):
        run_all(range(100), Rules(keep_pinned=False))
