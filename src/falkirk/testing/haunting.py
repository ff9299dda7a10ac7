"""An aimed fault: a write of an earlier life that lands at the worst of times (trap 8).

A processor fails while one of its writes is under way. It comes back, does its work again and wants
to save it. Just then the old write arrives; the new ones do not, before everything crashes. A store
that took the old write would now hold what never happened, among what did.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from falkirk.core.machine.events import Persist
from falkirk.testing.faults import Fault, Trouble
from falkirk.testing.situation import Situation


class Haunting:
    """Waits for a write, fails its processor, and lets it write again; then everything crashes."""

    def __init__(self, random: Random) -> None:
        """Nothing has happened yet."""
        self.random = random
        self.old: Persist | None = None
        self.landed = self.over = False
        self.countdown = random.randrange(60)

    def fault(self, situation: Situation) -> Fault | None:
        """The next of the two faults, when its time has come."""
        self.countdown -= 1
        if self.countdown > 0:
            return None
        if self.old is None:
            told_apart = [persist for persist in situation.writes if tagged(persist)]
            if told_apart:
                self.old = self.random.choice(told_apart)
                return Fault(Trouble.FAIL, (self.old.processor,))
        self.over = self.landed
        return Fault(Trouble.CRASH) if self.over else None

    def choose(self, moves: Sequence[tuple[str, Any]]) -> list[int]:
        """The moves that may be made now; empty if it does not matter.

        The processor's writes are kept back, but for the old one, until nothing else can be done or
        everything has crashed.
        """
        old = self.old
        if old is None:
            return []
        mine = [
            i
            for i, (kind, subject) in enumerate(moves)
            if kind == "commit" and subject.processor == old.processor
        ]
        again = any(moves[i][1].incarnation > old.incarnation for i in mine)
        if again and not self.landed:
            self.landed = True
            self.countdown = self.random.choice((self.random.randrange(40), 500, 500))
            return [i for i in mine if moves[i][1].ticket == old.ticket]
        others = [i for i in range(len(moves)) if i not in mine]
        if self.landed and not others:
            self.countdown = 0
        return others if mine else []


def tagged(persist: Persist) -> bool:
    """Whether a write holds state that would be another if it came to it again, and was sent on."""
    return any(
        isinstance(item, tuple) and item[-1]
        for record in persist.records
        if record.discarded or record.sent
        for item in record.state
    )
