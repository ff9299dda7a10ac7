"""How much the next epoch of an input may take: a fixed limit, or one that holds a latency."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from falkirk.dataflow.admission import Adaptive
from falkirk.dataflow.connecting import Limit

STEP_MAX = 2.0
"""By how much a limit changes at once, at most: one slow epoch may be an accident."""

SLACK = 0.1
"""How far latency may be from its target without anything being done about it."""


class Controller:
    """Adapts a limit in proportion to how far latency is from its target.

    Law: if an epoch of n takes a + b·n seconds, n approaches the size that takes exactly the
    target, from the side on which it is, and crosses it by less than one. An epoch that was read
    under another limit says nothing about this one, and one that took all there was does not say
    that more could be done.
    """

    def __init__(self, goal: Adaptive) -> None:
        """Begins with the least."""
        self.goal, self.size = goal, goal.least

    @property
    def limit(self) -> Limit:
        """How much the next epoch may take."""
        return Limit(**{self.goal.unit: self.size})

    def measured(self, size: int, seconds: float, full: bool) -> None:
        """An epoch that might take ``size`` took ``seconds``; ``full`` if there was more."""
        if size != self.size:
            return
        ratio = self.goal.target_seconds / max(seconds, 1e-6)
        if abs(1 - ratio) <= SLACK or (ratio > 1 and not full):
            return
        wanted = int(size * min(max(ratio, 1 / STEP_MAX), STEP_MAX))
        if ratio > 1:
            wanted = max(wanted, size + 1)
        self.size = min(max(wanted, self.goal.least), self.goal.most)


@dataclass(slots=True)
class Measured:
    """One epoch on its way: when it was read, under which limit, and what is known of it."""

    began: float
    size: int
    seconds: float | None = None
    full: bool | None = None


@dataclass(slots=True)
class Admission:
    """The limit of one input, and the epochs that are being measured for it."""

    given: Limit | Adaptive
    controller: Controller | None = None
    measured: dict[int, Measured] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Limit | Adaptive) -> "Admission":
        """Admission as the flow asks for it."""
        return cls(given, Controller(given) if isinstance(given, Adaptive) else None)

    @property
    def limit(self) -> Limit:
        """How much the next epoch may take."""
        if self.controller is not None:
            return self.controller.limit
        assert isinstance(self.given, Limit), "what is adaptive has a controller"
        return self.given

    def polled(self, found: bool) -> None:
        """A poll found something, or nothing: so the epochs before had left something, or not."""
        for each in self.measured.values():
            if each.full is None:
                each.full = found
        self._report()

    @property
    def size(self) -> int:
        """What an adaptive limit admits just now; 0 where there is none."""
        return self.controller.size if self.controller is not None else 0

    def taken(self, epoch: int, began: float, size: int) -> None:
        """An epoch was read; ``began`` is when, ``size`` what was admitted then."""
        if self.controller is not None:
            self.measured[epoch] = Measured(began, size)

    def look(self, completed: Callable[[], Any], now: float) -> None:
        """Notes which epochs are ``completed`` downstream by ``now``."""
        if not self.measured:
            return
        done = completed()
        for epoch, each in self.measured.items():
            if each.seconds is None and epoch <= done:
                each.seconds = now - each.began
        self._report()

    def _report(self) -> None:
        """Tells the controller of each epoch once all is known of it, in order."""
        for epoch, each in sorted(self.measured.items()):
            if each.seconds is None or each.full is None:
                return
            del self.measured[epoch]
            assert self.controller is not None, "only then epochs are measured"
            self.controller.measured(each.size, each.seconds, each.full)
