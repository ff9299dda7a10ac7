"""What waits to be written to the store: in order, but those first for whom somebody waits.

Checkpoints of different processors may become durable in any order, so one may overtake another.
Those of one processor do not, for its place in the line depends on nothing else; and nothing
overtakes a retraction, or a question about all that came before it.

A transaction costs about the same for one checkpoint as for ten. Where nobody waits for any of them
they come together before one begins; a busy store needs no such pause, for they come together while
it writes.
"""

import time
from collections.abc import Callable
from math import inf
from queue import Empty, SimpleQueue
from typing import Any

from falkirk.core.machine.events import Collect, CollectLog, Retract
from falkirk.core.machine.flow import Flow
from falkirk.core.times import ProcessorId
from falkirk.runtime.tidying import PutOff

Item = tuple[Any, Any] | Callable[[], None] | None
"""An effect with what was captured for it, a question, or the end."""

GROUP_MAX = 256
"""How many effects go into one transaction."""

BETWEEN_MAX = 8
"""How many, where somebody may come who is in a hurry."""

GATHER_SECONDS = 0.25
"""How far apart transactions begin where nobody waits for them."""

GATHER_MAX = 64
"""So many checkpoints are enough for one, and are not waited with."""


class Line:
    """Put to by any thread, taken from by one. What only tidies up goes to ``later``."""

    def __init__(
        self,
        later: PutOff,
        urgent: frozenset[ProcessorId] = frozenset(),
        gather_seconds: float = 0.0,
    ) -> None:
        """Nobody stands in it; the effects of ``urgent`` processors go first.

        Groups are taken ``gather_seconds`` apart, so that each becomes larger.
        """
        self.later, self.urgent, self.gather_seconds = later, urgent, gather_seconds
        self._gathered_at = -inf
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
        self._gather()
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

    def _gather(self) -> None:
        """Waits for more to come in, unless the last group was taken long enough ago.

        Nobody else is made to wait: who asks a question, retracts or ends is let in at once.
        """
        until = self._gathered_at + self.gather_seconds
        while not (self._first or self._last) and 0 < len(self._rest) < GATHER_MAX:
            try:
                self._let_in(self._queue.get(timeout=max(0.0, until - time.monotonic())))
            except Empty:
                break
        self._gathered_at = time.monotonic()

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


def waited_for(flow: Flow) -> bool:
    """Whether anything in ``flow`` happens only when something else is durable.

    Eager processors send then, staged outputs and bridges show then what nobody may contradict.
    """
    if flow.output_ones - flow.prompt_ones:
        return True
    return any(processor.policy.holds for processor in flow.processors.values())
