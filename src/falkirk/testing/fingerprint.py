"""When two states of a run are the same: equal but for the numbers that nobody can tell apart.

Messages, work and tickets carry numbers that only say which came first. Two runs that did
independent things in another order end in states that differ in nothing else. So the messages of
one edge are numbered anew among themselves, and so is what histories recorded; work and tickets
lose their numbers, for what they are about tells them apart.

Nothing of the machine is left out but what follows from the rest: an attribute that it gets
tomorrow is compared, too.
"""

from collections import Counter, deque
from collections.abc import Iterable
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from falkirk.core.frontier import ProductFrontier, SequenceFrontier, TotalFrontier
from falkirk.core.machine.channels import Channels
from falkirk.core.machine.events import Work
from falkirk.core.machine.ledger import Past
from falkirk.core.machine.message import Message
from falkirk.core.machine.progress import Progress
from falkirk.core.monitor import Monitor
from falkirk.core.times import SequenceNumber

if TYPE_CHECKING:
    from falkirk.testing.simulator import Simulation

FRONTIERS = (TotalFrontier, ProductFrontier, SequenceFrontier)
VALUES = frozenset([int, bool, str, float, type(None), SequenceNumber, *FRONTIERS])
"""What can be compared as it is."""
FIXED = frozenset(
    ("flow", "rules", "domain", "inputs", "outputs", "targets", "graph", "next_number", "ticket")
)
"""Attributes that never change in a run, or say only how much has happened before."""


@cache
def slots(kind: Any) -> tuple[str, ...]:
    """The attributes of a class that has no dictionary for them."""
    found = [name for each in kind.__mro__ for name in getattr(each, "__slots__", ())]
    return tuple(name for name in found if name not in FIXED)


def fingerprint(run: "Simulation") -> int:
    """What the future of a run depends on, as one number."""
    state = vars(run.machine.state)
    machine = {k: v for k, v in state.items() if k not in ("running", "tickets", *FIXED)}
    store = {k: v for k, v in vars(run.store).items() if k not in ("orphans", *FIXED)}
    ordered = (machine, store, run.world.outputs, run.world.acknowledged, run.collections)
    bags = (run.works, run.late, run.writes, run.releases)
    asked = (run.outage, run.retractions, run.pin)
    rest = (run.reading, run.guard.watermarks, run.flushed, run.memory, asked)
    names = _Names()
    names.look(ordered, bags, rest)
    names.settle()
    return hash(names.look(ordered, bags, rest))


class _Names:
    """Turns objects into nested tuples: once to see all numbers, and once with new ones."""

    def __init__(self) -> None:
        self.numbers: dict[Any, set[int]] = {}
        self.ranks: dict[Any, dict[int, int]] = {}
        self.edges: dict[int, Any] = {}

    def look(self, ordered: Any, bags: Any, rest: Any) -> Any:
        loose = tuple(self.bag(each) for each in bags)
        return self.plain(ordered), loose, self.plain(rest)

    def settle(self) -> None:
        self.ranks = {
            family: {number: rank for rank, number in enumerate(sorted(numbers))}
            for family, numbers in self.numbers.items()
        }

    def rank(self, family: Any, number: int) -> int:
        if self.ranks:
            return self.ranks[family][number]
        self.numbers.setdefault(family, set()).add(number)
        return 0

    def bag(self, values: Iterable[Any]) -> Any:
        """Values whose order means nothing."""
        return frozenset(Counter(map(self.plain, values)).items())

    def plain(self, value: Any) -> Any:
        """``value`` as something that can be compared and hashed."""
        kind = type(value)
        if kind in VALUES:
            return value
        if kind is tuple or kind is list or kind is deque:
            return tuple([each if type(each) in VALUES else self.plain(each) for each in value])
        if kind is dict:
            return frozenset(
                [
                    (k if type(k) in VALUES else self.plain(k), self.plain(v))
                    for k, v in value.items()
                ]
            )
        if kind is set or kind is frozenset:
            return frozenset(map(self.plain, value))
        return self.object(value)

    def object(self, value: Any) -> Any:
        if isinstance(value, Message):
            self.edges[value.number] = value.edge
            rank = self.rank(value.edge, value.number)
            return (value.edge, rank, value.time, value.cause, self.plain(value.batch))
        if isinstance(value, Past):
            sent = tuple(self.known(number) for number, *_ in value.sent)
            return (self.rank(Past, value.number), value.edge, self.plain(value.batch), sent)
        if isinstance(value, Work):
            return (value.incarnation, self.plain(value.item))
        if isinstance(value, Progress):
            return self.plain((value.counts, value.stale))
        if isinstance(value, Channels):
            return self.plain(value.queues)
        if isinstance(value, Monitor):
            return self.plain(value.restorables)
        if isinstance(value, Enum):
            return value
        kind: type = type(value)
        found = [self.plain(getattr(value, name)) for name in slots(kind)]
        for name, each in getattr(value, "__dict__", {}).items():
            if name not in FIXED:
                found.append(self.plain(each))
        return tuple(found)

    def known(self, number: int) -> Any:
        """A message that a history speaks of, if it still exists anywhere."""
        edge = self.edges.get(number)
        return None if edge is None else (edge, self.rank(edge, number))
