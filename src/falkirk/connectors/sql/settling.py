"""How far a table can be read without missing rows that are committed late.

A key is given when a row is inserted, and the row is seen when its transaction ends. So a larger
key can be seen before a smaller one, and who reads up to the larger one would miss the smaller.

On PostgreSQL, who inserts holds a lock on the table from before its key is drawn until its
transaction ends. So take the largest key that is seen, and then ask who holds such a lock: once
those have ended, no smaller key can come. Nobody is kept waiting for that, and however many write,
each step waits for those only who were there when it began. SQLite has one writer at a time. For
all other databases, and for keys that are drawn long before they are inserted, there is a time to
wait: ``settle_seconds``.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Connection, func, select, text

from falkirk.core.errors import PermanentError

WRITERS = text(
    "SELECT virtualtransaction FROM pg_locks WHERE relation = to_regclass(:name)"
    " AND locktype = 'relation' AND database = (SELECT oid FROM pg_database"
    " WHERE datname = current_database())"
    " AND mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock',"
    " 'AccessExclusiveLock') AND granted AND pid IS DISTINCT FROM pg_backend_pid()"
)


@dataclass(slots=True)
class Settling:
    """Watches one table: ``key`` is the largest one below which nothing new can come."""

    seconds: float
    key: Any = None
    _seen: Any = None
    _writers: frozenset[str] = frozenset()
    _since: float = field(default=0.0)

    def look(self, connection: Connection, column: Column[Any]) -> Any:
        """The largest key up to which the table can be read now, None if there is none."""
        writers = self._current(connection, column)
        if self._seen is not None and self._settled(writers):
            self.key, self._seen = self._seen, None
        if self._seen is None:
            largest = connection.scalar(select(func.max(column)))
            if largest is not None and largest != self.key:
                # Whoever holds a lock now may have drawn a smaller key; whoever comes later not.
                self._seen, self._since = largest, time.monotonic()
                self._writers = self._current(connection, column)
                if self._settled(self._writers):
                    self.key, self._seen = largest, None
        return self.key

    def _settled(self, writers: frozenset[str]) -> bool:
        aged = time.monotonic() - self._since >= self.seconds
        return aged and not (self._writers & writers)

    def _current(self, connection: Connection, column: Column[Any]) -> frozenset[str]:
        if connection.dialect.name != "postgresql":
            return frozenset()
        if connection.scalar(text("SELECT pg_is_in_recovery()")):
            raise PermanentError(
                "a standby does not know who writes on its primary: read from the primary"
            )
        name = connection.dialect.identifier_preparer.format_table(column.table)
        return frozenset(connection.scalars(WRITERS, {"name": name}))
