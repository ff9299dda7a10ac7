"""Numbers as a source: for benchmarks, demonstrations and tests."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from falkirk.dataflow.connecting import Limit


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers from 0 up to ``rows`` in a column ``value``, or without an end.

    An epoch has ``rows_per_epoch`` numbers. With ``rows_per_second`` they come by the clock, else
    as fast as they are taken. The clock starts when a run first asks, from where the run before it
    stopped: nothing comes twice, and nothing has to be made up for.
    """

    rows: int | None = None
    rows_per_epoch: int = 1_000
    rows_per_second: float | None = None
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    _origin: list[tuple[float, int]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    replayable = True
    counts = ("rows",)

    def initial(self) -> int:
        """Before the number 0."""
        return 0

    def latest(self, start: int, limit: Limit) -> int:
        """As many numbers as an epoch has, or as there are."""
        end = start + min(self.rows_per_epoch, limit.rows or self.rows_per_epoch)
        if self.rows is not None:
            end = min(end, self.rows)
        if self.rows_per_second is not None:
            if not self._origin:
                self._origin.append((self.clock(), start))
            began, first = self._origin[0]
            due = first + int((self.clock() - began) * self.rows_per_second)
            end = min(end, max(start, due))
        return end

    def close(self) -> None:
        """The run has ended, and the clock with it."""
        self._origin.clear()

    def read(self, session: Any, start: int, end: int) -> Any:
        """A plan that counts from ``start``."""
        return session.range(start, end, 1, 1).withColumnRenamed("id", "value")

    def size(self, start: int, end: int) -> int | None:
        """Eight bytes a number."""
        return 8 * (end - start)

    def finished(self, position: int) -> bool:
        """Whether all numbers were read."""
        return self.rows is not None and position >= self.rows

    def commit(self, end: int) -> None:
        """Numbers can always be had again."""
