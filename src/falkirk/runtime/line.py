"""What waits to be written to the store: in order, but those first for whom somebody waits.

Checkpoints of different processors may become durable in any order, so one may overtake another.
Those of one processor do not, for its place in the line depends on nothing else; and nothing
overtakes a retraction, or a question about all that came before it.
"""

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from falkirk.core.machine.events import Collect, CollectLog, Retract
from falkirk.core.times import ProcessorId
from falkirk.runtime.tidying import PutOff

Item = tuple[Any, Any] | Callable[[], None] | None
"""An effect with what was captured for it, a question, or the end."""

GROUP_MAX = 256
"""How many effects go into one transaction."""

BETWEEN_MAX = 8
"""How many, where somebody may come who is in a hurry."""


class Line:
    """Put to by any thread, taken from by one. What only tidies up goes to ``later``."""

    def __init__(self, later: PutOff, urgent: frozenset[ProcessorId] = frozenset()) -> None:
        """Nobody stands in it; the effects of ``urgent`` processors go first."""
        self.later, self.urgent = later, urgent
        self.at_once = BETWEEN_MAX if urgent else GROUP_MAX
        self._queue: SimpleQueue[Item] = SimpleQueue()
        self._first: list[Item] = []
        self._rest: list[Item] = []
        self._last: list[Item] = []
        self._hurried = False

    def put(self, item: Item) -> None:
        """Puts an item at the end."""
        self._queue.put(item)

    def next(self, timeout: float | None) -> list[Item]:
        """Those who are to be written together now; a question or the end alone.

        A retraction comes with those behind it. Waits for one, at most ``timeout`` seconds, and
        raises ``Empty`` then. Gives none if all who came can be put off.
        """
        self._draw(timeout)
        if self._first or self._rest:
            return self._group()
        group, self._last = self._last, []
        if group and isinstance(group[0], tuple):
            self._draw_waiting()
            group += self._group()
        return group

    def _group(self) -> list[Item]:
        """Some who are in a hurry; but after them some others, so that everybody's turn comes."""
        self._hurried = bool(self._first) and not (self._hurried and self._rest)
        if self._hurried:
            group, self._first = self._first[:GROUP_MAX], self._first[GROUP_MAX:]
        else:
            group, self._rest = self._rest[: self.at_once], self._rest[self.at_once :]
        return group

    def _draw(self, timeout: float | None) -> None:
        """Lets all come in who wait outside; if nobody is inside, waits for one."""
        if not (self._first or self._rest or self._last):
            self._let_in(self._queue.get(timeout=timeout))
        self._draw_waiting()

    def _draw_waiting(self) -> None:
        """Lets all come in, as far as the next that nobody may overtake."""
        while not self._last and not self._queue.empty():
            self._let_in(self._queue.get())

    def _let_in(self, item: Item) -> None:
        if not isinstance(item, tuple) or isinstance(item[0], Retract):
            self._last.append(item)
        elif isinstance(item[0], Collect | CollectLog):
            self.later.put(item[0])
        elif getattr(item[0], "processor", None) in self.urgent:
            self._first.append(item)
        else:
            self._rest.append(item)
