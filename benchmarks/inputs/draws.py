"""Random keys as a source: so many rows an epoch, as skewed as is wanted, by the clock or not."""

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

UNIFORM, ZIPF, HOT = "uniform keys", "Zipf keys", "one hot key"
KEY = {
    UNIFORM: "pmod(xxhash64(id, {seed}), {keys})",
    # A logarithm that is spread evenly: the n-th key is drawn in proportion to 1/n.
    ZIPF: "CAST(pow({keys}, pmod(xxhash64(id, {seed}), 1000003) / 1000003D) AS BIGINT) - 1",
    HOT: "IF(pmod(xxhash64(id, {seed}), 10) > 0, 0, pmod(xxhash64({seed}, id), {keys}))",
}
"""How a row's number becomes its key."""

ROWS_A_TASK = 500_000


@dataclass(frozen=True)
class Shape:
    """What an epoch holds: ``rows`` of which each has one of so many ``keys``."""

    rows: int = 1_000
    keys: int = 10_000
    skew: str = UNIFORM
    seed: int = 0

    @property
    def key(self) -> str:
        """The key of a row as an SQL expression over ``id``."""
        return KEY[self.skew].format(keys=self.keys, seed=self.seed)


class Draws:
    """So many epochs of random keys, the same for the same position.

    With ``seconds`` an epoch is there so long after the one before it, whether anyone is ready for
    it or not; else as soon as it is wanted. ``heard`` is told of every epoch that is read.
    """

    replayable = True

    def __init__(
        self,
        shape: Shape,
        epochs: int,
        seconds: float | None = None,
        heard: Callable[[int], None] = lambda epoch: None,
    ) -> None:
        """Nothing was read yet."""
        self.shape, self.epochs, self.seconds, self.heard = shape, epochs, seconds, heard
        self.reads: Counter[int] = Counter()
        self.origin: float | None = None

    def initial(self) -> int:
        """Before the first epoch."""
        return 0

    def due(self, epoch: int) -> float:
        """When an epoch was there by the clock."""
        return (self.origin or 0.0) + epoch * (self.seconds or 0.0)

    def latest(self, start: int, limit: Any) -> int:
        """The next epoch, if it is there."""
        if self.seconds is not None:
            self.origin = self.origin or time.monotonic()
            if time.monotonic() < self.due(start):
                return start
        return min(start + 1, self.epochs)

    def read(self, session: Any, start: int, end: int) -> Any:
        """The keys of one epoch; a plan."""
        self.reads[start] += 1
        self.heard(start)
        rows = self.shape.rows
        tasks = max(1, min(os.cpu_count() or 1, rows * (end - start) // ROWS_A_TASK))
        found = session.range(start * rows, end * rows, 1, tasks)
        return found.selectExpr(f"{self.shape.key} AS key")

    def size(self, start: int, end: int) -> int:
        """Eight bytes a key."""
        return 8 * self.shape.rows * (end - start)

    def finished(self, position: int) -> bool:
        """Whether that was the last epoch."""
        return position >= self.epochs

    def commit(self, end: int) -> None:
        """They can always be had again."""
