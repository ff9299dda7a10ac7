"""Leases on the rows of a queue: taken in one statement, so that no two consumers have one row.

A row is free if it has no lease, leased while ``falkirk_until`` is set, and done with a lease and
without ``falkirk_until``.
"""

import math
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    func,
    literal,
    or_,
    select,
    text,
    update,
)

from falkirk.connectors.sql.columns import existing_table
from falkirk.connectors.sql.database import Database
from falkirk.connectors.sql.mysql import exact_collation, is_mysql
from falkirk.connectors.sql.values import arrow_schema, chosen_columns, pieces, selected
from falkirk.core.errors import PermanentError

if TYPE_CHECKING:
    from falkirk.connectors.sql.queue import QueueSource

OURS = {
    "falkirk_consumer": "TEXT",
    "falkirk_lease": "BIGINT",
    "falkirk_until": "DOUBLE PRECISION",
}


class Leasing:
    """The leases of one consumer on one queue."""

    def __init__(self, source: "QueueSource") -> None:
        """Nothing is opened yet."""
        self.source, self.database = source, Database(source.url)
        self._renewed = -math.inf
        self._table: Table | None = None
        self._order = ""

    def latest(self, start: Any, rows_max: int) -> Any:
        """The position after the next lease; ``start`` if nothing is free."""
        with self.database.writing("leased from") as connection:
            queue = self._opened(connection)
            self._renew(connection, queue)
            again = connection.execute(
                select(queue.c.falkirk_lease, func.count().label("rows"))
                .where(self._mine(queue), queue.c.falkirk_lease > start[0])
                .group_by(queue.c.falkirk_lease)
                .order_by(queue.c.falkirk_lease)
                .limit(1)
            ).one_or_none()
            if again is not None:
                return [again.falkirk_lease, start[1] + again.rows]
            taken = self._take(connection, queue, start[0] + 1, rows_max)
            return [start[0] + 1, start[1] + taken] if taken else start

    def read(self, start: Any, end: Any) -> pa.Table:
        """All rows of some leases; an error if they are not all there any more."""
        with self.database.reading() as connection:
            queue = self._opened(connection)
            dialect = connection.dialect.name
            columns = [c for c in chosen_columns(queue, self.source.columns) if c.name not in OURS]
            schema = arrow_schema(columns, dialect)
            within = and_(
                self._mine(queue),
                queue.c.falkirk_lease > start[0],
                queue.c.falkirk_lease <= end[0],
            )
            query = select(*(selected(column, dialect) for column in columns)).where(within)
            ordered = query.order_by(queue.c.falkirk_lease, queue.c[self.source.key])
            found = pa.Table.from_batches(pieces(connection.execute(ordered), schema), schema)
        if found.num_rows != end[1] - start[1]:
            raise PermanentError(
                f"{end[1] - start[1]} rows of {self.source.table!r} were leased to"
                f" {self.source.consumer!r} and {found.num_rows} of them are left: the lease has"
                " expired and others took them, or they were deleted. Choose a larger"
                " lease_seconds, and a name of its own for every consumer; go on with a new store"
            )
        return found

    def follows(self, position: Any) -> bool:
        """Whether there is anything to read after ``position``."""
        with self.database.reading() as connection:
            queue = self._opened(connection)
            ours = and_(self._mine(queue), queue.c.falkirk_lease > position[0])
            anything = or_(ours, self._free(connection, queue))
            return connection.scalar(select(literal(1)).where(anything).limit(1)) is not None

    def acknowledge(self, end: Any) -> None:
        """Deletes, or marks as done, what lies in leases up to ``end``."""
        with self.database.writing("acknowledged to") as connection:
            queue = self._opened(connection)
            chosen = and_(self._mine(queue), queue.c.falkirk_lease <= end[0])
            if self.source.keep:
                connection.execute(update(queue).where(chosen).values(falkirk_until=None))
            else:
                connection.execute(delete(queue).where(chosen))

    def close(self) -> None:
        """Closes all connections."""
        self.database.close()

    def _take(self, connection: Connection, queue: Table, number: int, rows_max: int) -> int:
        """Leases free rows under ``number``; how many there were."""
        key = queue.c[self.source.key]
        free = select(key).where(self._free(connection, queue)).order_by(key).limit(rows_max)
        if connection.dialect.name != "sqlite":
            free = free.with_for_update(skip_locked=True)
        values: dict[str, Any] = {
            "falkirk_consumer": self.source.consumer,
            "falkirk_lease": number,
            "falkirk_until": now(connection) + self.source.lease_seconds,
        }
        taken: Any = select(free.subquery("taken").c[key.name])
        if is_mysql(connection):  # it would look at every row for an inner query
            taken = list(connection.scalars(free))
        return connection.execute(update(queue).where(key.in_(taken)).values(**values)).rowcount

    def _renew(self, connection: Connection, queue: Table) -> None:
        """Renews all leases of this consumer, when a third of their time is over."""
        if time.monotonic() - self._renewed < self.source.lease_seconds / 3:
            return
        until = now(connection) + self.source.lease_seconds
        connection.execute(update(queue).where(self._mine(queue)).values(falkirk_until=until))
        self._renewed = time.monotonic()

    def _mine(self, queue: Table) -> ColumnElement[bool]:
        return and_(self._is_us(queue), queue.c.falkirk_until.is_not(None))

    def _free(self, connection: Connection, queue: Table) -> ColumnElement[bool]:
        """Rows without a lease, and those whose lease another consumer has let expire."""
        return or_(
            queue.c.falkirk_lease.is_(None),
            and_(
                queue.c.falkirk_until < now(connection),
                ~self._is_us(queue),
            ),
        )

    def _is_us(self, queue: Table) -> ColumnElement[bool]:
        """Whether a consumer has our name to the letter, however the database compares texts."""
        name: ColumnElement[Any] = literal(self.source.consumer)
        return queue.c.falkirk_consumer == (name.collate(self._order) if self._order else name)

    def _opened(self, connection: Connection) -> Table:
        if self._table is None:
            table = existing_table(connection, self.source.table, self.database.place)
            missing = [f"{name} {kind}" for name, kind in OURS.items() if name not in table.c]
            if missing:
                statements = "; ".join(
                    f"ALTER TABLE {self.source.table} ADD COLUMN {each}" for each in missing
                )
                raise PermanentError(
                    f"the queue {self.source.table!r} has no room for leases. Run: {statements}"
                )
            chosen_columns(table, [self.source.key])
            self._table = table
            self._order = exact_collation(connection) if is_mysql(connection) else ""
        return self._table


def now(connection: Connection) -> float:
    """Seconds since 1970, by the clock that all consumers see."""
    if connection.dialect.name == "postgresql":
        found: Any = connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())"))
        return float(found)
    if is_mysql(connection):
        found = connection.scalar(text("SELECT UNIX_TIMESTAMP(SYSDATE(6))"))
        return float(found)
    return time.time()
