"""An aimed fault: who runs its history again is put further back by another's failure (§4.4).

One processor replays, and somebody before it has not saved all that the history is made of. The
one fails and replays; the other fails meanwhile, so that part of the history never happened and
the rest is still to be run. Or a receiver fails, which now lacks more than it was owed; or the one
fails once more.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from falkirk.core.machine.flow import Flow
from falkirk.core.times import ProcessorId
from falkirk.testing.faults import FAILURE, Fault
from falkirk.testing.situation import Situation

PATIENCE = 400
"""Moves after which nothing is waited for any more."""


class Interrupting:
    """Keeps somebody from saving, has one behind it replay, and strikes before that is done."""

    takes = (FAILURE,)

    @classmethod
    def weight(cls, flow: Flow) -> int:
        """Somebody replays, and goes back when somebody before it does."""
        return 6 if pairs(flow) else 0

    def __init__(self, random: Random, flow: Flow) -> None:
        """Chooses who replays, who is kept from saving, and who has lost what it received."""
        self.random = random
        self.sender, self.replayer = random.choice(pairs(flow))
        self.receiver = random.choice([e.target for e in flow.graph.outputs(self.replayer)])
        self.behind = frozenset(reached(flow, self.replayer, forward=True))
        self.other = random.choices(
            (self.sender, self.receiver, self.replayer), weights=(13, 4, 3)
        )[0]
        self.saves, self.left = (0, 0), -1
        self.holding = self.over = self.struck = False
        self.patience = PATIENCE

    def fault(self, situation: Situation) -> Fault | None:
        """The failure of the one, and then that of the other."""
        self.patience -= 1
        if self.patience < 0:
            self.over = True
            return None
        if self.struck:
            return self._interruption(situation)
        saves = situation.saves(self.sender), situation.saves(self.replayer)
        if saves == self.saves:
            return None
        self.holding = self.holding or saves[0] > self.saves[0]
        self.saves = saves
        if not all(saves) or not self._would_interrupt(situation):
            return None
        self.struck = self.holding = True
        owed = self.random.random() < 0.7
        names = (self.replayer, self.receiver) if owed else (self.replayer,)
        return self._failure(names)

    def _would_interrupt(self, situation: Situation) -> bool:
        """Whether the history that would be run is longer than what would be left of it.

        If nothing would be left, the sender may save a little more.
        """
        p = self.replayer
        whole = situation.past(p, situation.plan([p])[p])
        rest = situation.past(p, situation.plan([p, self.sender])[p]) if whole else 0
        self.holding = self.holding and (rest > 0 or not whole)
        return 0 < rest < whole

    def _interruption(self, situation: Situation) -> Fault | None:
        """The second failure, when some of the history was run again."""
        left = situation.left(self.replayer)
        if self.left < 0:
            self.left = self.random.randint(left // 2, left)
        if self.replayer not in situation.replaying:
            self.over = True
            return None
        if left > self.left:
            return None
        self.over = True
        return self._failure((self.other,))

    def _failure(self, names: tuple[ProcessorId, ...]) -> Fault:
        return Fault(self.random.choice(FAILURE), tuple(dict.fromkeys(names)))

    def choose(self, moves: Sequence[tuple[str, Any]]) -> list[int]:
        """What the two want to save goes first; but of the sender only so much is let through.

        Nobody behind them saves anything, or the history could be forgotten.
        """
        commits = [(i, move[1].processor) for i, move in enumerate(moves) if move[0] == "commit"]
        if not self.struck:
            hurried = (self.replayer,) if self.holding else (self.replayer, self.sender)
            first = [i for i, p in commits if p in hurried]
            if first:
                return first
        kept_back = {i for i, p in commits if p == self.sender or p in self.behind}
        return [i for i in range(len(moves)) if i not in kept_back] if kept_back else []


def pairs(flow: Flow) -> list[tuple[ProcessorId, ProcessorId]]:
    """Everybody who replays, each with all those before it who save and send before they have."""
    return [
        (sender, p)
        for p, processor in flow.processors.items()
        if processor.policy.replays
        for sender in reached(flow, p, forward=False)
        if not flow.restores_anywhere(sender) and not flow.processors[sender].policy.holds
    ]


def reached(flow: Flow, p: ProcessorId, forward: bool) -> list[ProcessorId]:
    """Everybody to whom there is a way from ``p``, or from whom there is one; but ``p`` itself."""
    graph, found, pending = flow.graph, dict.fromkeys([p]), [p]
    while pending:
        here = pending.pop()
        edges = graph.outputs(here) if forward else graph.inputs(here)
        for there in [edge.target if forward else edge.source for edge in edges]:
            if there not in found:
                found[there] = None
                pending.append(there)
    return list(found)[1:]
