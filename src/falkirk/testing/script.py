"""A source that follows a script and a sink that remembers: for testing flows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.times import Time
from falkirk.dataflow.connecting import Limit

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Script:
    """A source whose epochs are written down: each is a list of rows.

    ``schema`` is Arrow's; without it the types follow from the rows of the whole script.
    ``committed`` are the positions that were acknowledged, in order.
    """

    epochs: Sequence[Rows]
    schema: Any = None
    committed: list[int] = field(default_factory=list, compare=False)

    replayable = True

    def initial(self) -> int:
        """Before the first epoch."""
        return 0

    def latest(self, start: int, limit: Limit) -> int:
        """One epoch of the script at a time."""
        return min(start + 1, len(self.epochs))

    def read(self, session: Any, start: int, end: int) -> Any:
        """The rows of the script between two positions."""
        schema = self.schema or pa.Table.from_pylist([r for e in self.epochs for r in e]).schema
        rows = [row for epoch in self.epochs[start:end] for row in epoch]
        return pa.Table.from_pylist(rows, schema=schema)

    def size(self, start: int, end: int) -> int | None:
        """Nobody counts."""
        return None

    def finished(self, position: int) -> bool:
        """Whether the script is at its end."""
        return position >= len(self.epochs)

    def commit(self, end: int) -> None:
        """Remembers the acknowledgement."""
        self.committed.append(end)


@dataclass(frozen=True)
class Remembered:
    """A sink that keeps the rows of each time, sorted, and what was written a second time."""

    times: dict[Time, Rows] = field(default_factory=dict)
    repeated: list[Time] = field(default_factory=list)
    lock: Any = field(default_factory=Lock, compare=False)

    exactly_once = True

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Remembers the rows of ``time``; other rows than before are a contradiction."""
        rows = sorted(batch.arrow().to_pylist(), key=repr)
        with self.lock:
            if time in self.times:
                self.repeated.append(time)
                if self.times[time] != rows:
                    self.contradicted(time, rows)
            self.times.setdefault(time, rows)

    def contradicted(self, time: Time, rows: Rows) -> None:
        """A time came again, with other rows."""
        raise AssertionError(f"{time} showed {self.times[time]} and now {rows}")

    def rows(self) -> Rows:
        """All rows, in the order of their times."""
        return [row for time in sorted(self.times) for row in self.times[time]]
