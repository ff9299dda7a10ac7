"""Who decides what happens next in a run: a seed, or a script that was written down.

A decision is the index of a move among those that are possible, or a fault. A list of decisions is
a schedule: it replays a run, and what is left of it when parts are taken out is a schedule too.
"""

from collections.abc import Iterable
from random import Random
from typing import Any, Protocol

from falkirk.testing.aiming import aim, ambush
from falkirk.testing.faults import Fault, Faults, Trouble
from falkirk.testing.situation import Situation

Decision = int | Fault
Move = tuple[str, Any]
KINDS = (
    "finish",
    "begin",
    "commit",
    "hand_out",
    "collect",
    "compacted",
    "read",
    "finish_late",
)


class Decisions(Protocol):
    """Decides about faults and moves; ``made`` has the decisions, to be replayed."""

    made: list[Decision]

    def fault(self, situation: Situation) -> Fault | None:
        """What goes wrong now, if anything does."""

    def pick(self, moves: list[Move]) -> int:
        """Which of the moves is made."""


class Seeded:
    """Decides by a seed, and writes its decisions down.

    Every run has a pace of its own: some kinds of moves are put off, so that in one run the store
    is slow, in another the inputs are; and in some runs one processor's writes, or what it shows,
    take very long. Trouble comes in bursts, and likes to hit a recovery. Many runs have an aimed
    fault besides.
    """

    def __init__(self, random: Random, faults: Faults, lots: Random | None = None) -> None:
        """Draws the pace of the run; with ``lots`` it may lie in wait for a rare moment."""
        self.random = random
        self.bag = faults.bag()
        self.chance = faults.chance * random.choice((0.3, 1, 1, 3))
        self.slow = frozenset(kind for kind in KINDS if random.random() < 0.25)
        self.slow_writer = random.random() if random.random() < 0.4 else None
        self.late: str | None = None
        aims = faults.failures > 0 and faults.crashes > 0
        self.aimed = aim(random) if aims else None
        self.lots = lots if aims and faults.ambushes else None
        self.made: list[Decision] = []
        self.countdown = self._gap()

    def fault(self, situation: Situation) -> Fault | None:
        """Counts down to the next fault."""
        if self.slow_writer is not None and self.late is None:
            self.late = situation.names[int(self.slow_writer * len(situation.names))]
        if self.lots is not None:
            self._lie_in_wait(self.lots, situation)
        if self.aimed is not None:
            strike = self.aimed.fault(situation)
            if self.aimed.over:
                self.aimed = None
            if strike is not None:
                self.made.append(strike)
                return strike
        self.countdown -= 1
        if self.countdown >= 0 or not self.bag:
            return None
        random = self.random
        kind = random.choice(self.bag.pop(random.randrange(len(self.bag))))
        fault = Fault(kind, self._names(kind, situation))
        self.countdown = random.randrange(8) if random.random() < 0.3 else self._gap()
        self.made.append(fault)
        return fault

    def pick(self, moves: list[Move]) -> int:
        """Any move; what is slow in this run is mostly put off."""
        if self.aimed is not None:
            chosen = self.aimed.choose(moves)
            if chosen:
                index = self.random.choice(chosen)
                self.made.append(index)
                return index
        random, count = self.random.random, len(moves)
        index = int(random() * count)
        kind, subject = moves[index]
        late = kind in ("commit", "hand_out") and subject.processor == self.late
        if late or kind == "commit" or kind in self.slow:
            put_off = 0.95 if late else 0.8 if kind in self.slow else 0.5
            if random() < put_off:
                index = int(random() * count)
        self.made.append(index)
        return index

    def _lie_in_wait(self, lots: Random, situation: Situation) -> None:
        """Perhaps waits for a moment that this flow can have, with faults out of the bag."""
        self.lots = None
        waiting = ambush(lots, situation.flow, self.aimed)
        if waiting is not None:
            self.aimed = waiting
            for fault in waiting.takes:
                if fault in self.bag:
                    self.bag.remove(fault)

    def _gap(self) -> int:
        """Steps until the next fault."""
        return int(self.random.expovariate(self.chance)) if self.chance > 0 else 1 << 60

    def _names(self, kind: Trouble, situation: Situation) -> tuple[str, ...]:
        random, names = self.random, situation.names
        if kind is Trouble.REPEAT:
            return (str(random.randrange(max(1, situation.repeatable))),)
        if kind in (Trouble.STUMBLE, Trouble.REFUSE):
            return (str(random.randrange(4)),)
        if kind is Trouble.OUTAGE:
            return (str(random.randint(5, 60)),)
        if kind is Trouble.TICK:
            return (str(random.randint(1, 60)),)
        if kind is Trouble.SUSPECT:
            return (random.choice(names),)
        if kind not in (Trouble.FAIL, Trouble.KILL):
            return ()
        if random.random() < 0.1:
            return tuple(names)
        chosen = set(random.sample(names, random.randint(1, min(3, len(names)))))
        replaying = situation.replaying
        if replaying and random.random() < 0.5:
            chosen.add(random.choice(replaying))
        return tuple(name for name in names if name in chosen)


class Scripted:
    """Follows a schedule; when it is at its end, the first possible move is made.

    An index that is too large counts around, so that every list of decisions is a schedule.
    """

    def __init__(self, decisions: Iterable[Decision]) -> None:
        """Starts with the first of ``decisions``."""
        self.made: list[Decision] = list(decisions)
        self.position = 0

    def fault(self, situation: Situation) -> Fault | None:
        """The next decision, if it is a fault."""
        if self.position < len(self.made):
            decision = self.made[self.position]
            if isinstance(decision, Fault):
                self.position += 1
                return decision
        return None

    def pick(self, moves: list[Move]) -> int:
        """The next decision, or the first move."""
        if self.position >= len(self.made):
            return 0
        decision = self.made[self.position]
        assert isinstance(decision, int), "faults are asked for first"
        self.position += 1
        return decision % len(moves)


def write_script(decisions: Iterable[Decision]) -> str:
    """A schedule as one line of text.

    >>> write_script([0, 2, Fault(Trouble.CRASH)])
    '0 2 crash'
    """
    return " ".join(map(str, decisions))


def read_script(text: str) -> list[Decision]:
    """The schedule that :func:`write_script` wrote.

    >>> read_script("0 2 crash") == [0, 2, Fault(Trouble.CRASH)]
    True
    """
    return [int(word) if word.isdigit() else Fault.parse(word) for word in text.split()]
