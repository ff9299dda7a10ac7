"""An aimed fault: an output dies after it has saved something, and before the outside took it.

The outside takes nothing from one output for a while. As soon as that output has saved a
checkpoint, it is killed. One that had told of what nobody took would now have lost it (§4.3).
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from falkirk.testing.faults import FAILURE, Fault, Trouble
from falkirk.testing.situation import Situation

PATIENCE = 60
"""Moves after which the output is killed, whether it has saved anything or not."""


class Withholding:
    """Waits for an output that shows something, keeps it from the outside, and kills the output."""

    takes = (FAILURE,)

    def __init__(self, random: Random) -> None:
        """Nothing has happened yet."""
        self.random = random
        self.output: str | None = None
        self.saving = self.over = False
        self.countdown = random.randrange(80)

    def fault(self, situation: Situation) -> Fault | None:
        """The kill, when its time has come."""
        self.countdown -= 1
        if self.output is None:
            return None
        writes = situation.writes
        saved = self.saving and all(write.processor != self.output for write in writes)
        if not saved and self.countdown > -PATIENCE:
            return None
        self.over = True
        return Fault(Trouble.KILL, (self.output,))

    def choose(self, moves: Sequence[tuple[str, Any]]) -> list[int]:
        """The moves that may be made now; empty if it does not matter.

        What the output saves goes first, what it shows is kept back.
        """
        if self.output is None:
            shown = [subject.processor for kind, subject in moves if kind == "hand_out"]
            if self.countdown > 0 or not shown:
                return []
            self.output, self.countdown = self.random.choice(shown), 0
        saves = [i for i, move in enumerate(moves) if self._does(move, "commit")]
        if saves:
            self.saving = True
            return saves
        return [i for i, move in enumerate(moves) if not self._does(move, "hand_out")]

    def _does(self, move: tuple[str, Any], what: str) -> bool:
        kind, subject = move
        return kind == what and subject.processor == self.output
