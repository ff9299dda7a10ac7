"""An aimed fault: a timeline is left, and the process dies before the store knows of it (trap 8).

Processors fail when the store can still be read. Then it is gone for a while, so it does not hear
that their timeline is over, while they do their work again; and before it is back, everything
crashes. What was retracted is there again, for nothing that is durable follows from its being gone.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from falkirk.core.machine.flow import Flow
from falkirk.testing.faults import DEATH, FAILURE, Fault, Trouble
from falkirk.testing.situation import Situation


class Severing:
    """Has somebody fail, and everything crash a little later."""

    takes = (FAILURE, DEATH)

    @classmethod
    def weight(cls, flow: Flow) -> int:
        """Any flow will do."""
        return 1

    def __init__(self, random: Random, flow: Flow) -> None:
        """Chooses the moments, and who fails."""
        self.random = random
        names = list(flow.processors)
        self.names = tuple(random.sample(names, random.randint(1, min(2, len(names)))))
        self.countdown = random.randrange(10, 120)
        self.struck = self.over = False

    def fault(self, situation: Situation) -> Fault | None:
        """The failure that cuts the store off, and the crash."""
        self.countdown -= 1
        if self.countdown > 0:
            return None
        if not self.struck:
            self.struck, self.countdown = True, self.random.randrange(1, 25)
            return Fault(Trouble.SEVER, self.names)
        self.over = True
        return Fault(self.random.choice(DEATH))

    def choose(self, moves: Sequence[tuple[str, Any]]) -> list[int]:
        """Any move will do."""
        return []
