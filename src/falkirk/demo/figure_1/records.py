"""A stream of records, made up: each is a function of its number, so that it can be read again.

A user looks at something, or befriends another user of the same circle. Circles grow together as
more friendships become known, so that the components of the graph change all the time.
"""

import time
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from falkirk.dataflow.connecting import Limit
from falkirk.demo.figure_1.hashing import spark_hash

USERS, CIRCLES = 400, 20

COLUMNS = (
    f"CAST(abs(hash(id, 11)) % {USERS} AS BIGINT) AS user",
    "IF(abs(hash(id, 13)) % 100 < 99, 'view', 'friend') AS kind",
    f"CAST((abs(hash(id, 17)) % {USERS // CIRCLES}) * {CIRCLES}"
    f" + abs(hash(id, 11)) % {USERS} % {CIRCLES} AS BIGINT) AS friend",
    "CAST(abs(hash(id, 19)) % 1000 AS BIGINT) AS milliseconds",
)
"""What a record consists of, as SQL over its number ``id``."""

SCHEMA = "user BIGINT, kind STRING, friend BIGINT, milliseconds BIGINT"


def records(session: Any, start: int, end: int) -> Any:
    """The records from ``start`` up to ``end``, as a frame."""
    return session.range(start, end, 1, 2).selectExpr(*COLUMNS)


def record(number: int) -> dict[str, Any]:
    """One record without Spark: the same as :func:`records` has at its number."""
    user, kind, friend, milliseconds = (abs(spark_hash(number, salt)) for salt in (11, 13, 17, 19))
    return {
        "user": user % USERS,
        "kind": "view" if kind % 100 < 99 else "friend",
        "friend": friend % (USERS // CIRCLES) * CIRCLES + user % USERS % CIRCLES,
        "milliseconds": milliseconds % 1000,
    }


@dataclass(frozen=True, slots=True)
class Records:
    """The record stream as a source: ``rows_per_epoch`` every ``seconds``, without an end."""

    rows_per_epoch: int = 5_000
    seconds: float = 0.5
    started: float = field(default_factory=time.monotonic, compare=False)
    _first: dict[str, int] = field(default_factory=dict, init=False, compare=False)
    _stopped: Event = field(default_factory=Event, init=False, compare=False, repr=False)

    replayable = True

    def initial(self) -> int:
        """Before the first record."""
        return 0

    def latest(self, start: int, limit: Limit) -> int:
        """One epoch's records, if the clock says that they are there."""
        first = self._first.setdefault("position", start)
        epochs = int((time.monotonic() - self.started) / self.seconds)
        due = first + epochs * self.rows_per_epoch
        return start + self.rows_per_epoch if due > start else start

    def read(self, session: Any, start: int, end: int) -> Any:
        """The records of one epoch."""
        return records(session, start, end)

    def size(self, start: int, end: int) -> int | None:
        """About forty bytes a record."""
        return 40 * (end - start)

    def stop(self) -> None:
        """No more records come."""
        self._stopped.set()

    def finished(self, position: int) -> bool:
        """They end only when they are stopped."""
        return self._stopped.is_set()

    def commit(self, end: int) -> None:
        """They can always be had again."""
