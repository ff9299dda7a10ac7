"""An aimed request, and no fault: somebody pins a moment, and has the flow go back to it.

What is pinned is neither collected nor acknowledged. So the flow can go back there, even below
low-watermarks; and outputs are held, so nobody outside can tell.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from falkirk.core.machine.flow import Flow
from falkirk.testing.faults import FAILURE, Fault, Trouble
from falkirk.testing.situation import Situation

PATIENCE = 150
"""Moves after which nothing is waited for any more."""


class Returning:
    """Pins a moment, waits until low-watermarks have risen above it, and goes back."""

    takes = (FAILURE,)

    @classmethod
    def weight(cls, flow: Flow) -> int:
        """Any flow will do, but for a bridge whose versions are taken for good."""
        return 0 if flow.latest else 1

    def __init__(self, random: Random, flow: Flow) -> None:
        """Chooses the moments."""
        self.random = random
        self.countdown = random.randrange(80)
        self.pinned = self.risen = self.over = False

    def fault(self, situation: Situation) -> Fault | None:
        """The pin, and the way back."""
        self.countdown -= 1
        if self.countdown > 0:
            return None
        if not self.pinned:
            self.pinned, self.countdown = True, 0
            return Fault(Trouble.PIN)
        if not self.risen:
            self.risen = situation.risen()
            if self.risen:
                self.countdown = self.random.randrange(20)
            self.over = self.countdown < -PATIENCE
            return None
        if situation.replaying:
            return None
        self.over = True
        return Fault(Trouble.RETURN)

    def choose(self, moves: Sequence[tuple[str, Any]]) -> list[int]:
        """Any move will do."""
        return []
