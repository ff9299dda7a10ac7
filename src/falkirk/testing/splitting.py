"""An aimed fault: a region takes a snapshot, and only a part of it becomes durable (§2.1)."""

from collections.abc import Sequence
from random import Random
from typing import Any

from falkirk.core.machine.flow import Flow
from falkirk.core.policy import Regime
from falkirk.core.times import ProcessorId
from falkirk.testing.faults import DEATH, FAILURE, Fault, Trouble
from falkirk.testing.situation import Situation


class Splitting:
    """Waits until a region wants to save a cut, lets one of it through, and strikes."""

    takes = (FAILURE,)

    @classmethod
    def weight(cls, flow: Flow) -> int:
        """There is a region of more than one, which few flows have."""
        return 30 if regions(flow) else 0

    def __init__(self, random: Random, flow: Flow) -> None:
        """Chooses a region, and how many of its moments pass by."""
        self.random = random
        self.region = random.choice(regions(flow))
        self.countdown = random.randrange(3)
        self.first: ProcessorId | None = None
        self.over = False

    def fault(self, situation: Situation) -> Fault | None:
        """The failure, between two writes of one cut."""
        saving = sorted({w.processor for w in situation.writes if w.processor in self.region})
        if self.first is not None:
            if self.first in saving:
                return None
            self.over = True
            return self._strike(saving) if saving else None
        if len(saving) > 1:
            self.countdown -= 1
            if self.countdown < 0:
                self.first = self.random.choice(saving)
        return None

    def _strike(self, saving: list[ProcessorId]) -> Fault:
        assert self.first is not None, "it is durable"
        kind = self.random.choice((*FAILURE, *FAILURE, *DEATH))
        if kind in (Trouble.CRASH, Trouble.ORPHAN):
            return Fault(kind)
        return Fault(kind, self.random.choice(((self.first,), (saving[0],), tuple(self.region))))

    def choose(self, moves: Sequence[tuple[str, Any]]) -> list[int]:
        """Of what the region wants to save, only the first is let through."""
        if self.first is None:
            return []
        commits = [(i, move[1].processor) for i, move in enumerate(moves) if move[0] == "commit"]
        return [i for i, p in commits if p == self.first]


def regions(flow: Flow) -> list[list[ProcessorId]]:
    """The regions that take snapshots, of more than one processor."""
    found: dict[str, list[ProcessorId]] = {}
    for p, processor in flow.processors.items():
        if processor.policy.regime is Regime.SNAPSHOT:
            found.setdefault(processor.policy.region, []).append(p)
    return [region for region in found.values() if len(region) > 1]
