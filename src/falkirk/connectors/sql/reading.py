"""Reading ranges of keys: on the driver, or by Spark's tasks if there are many rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
from sqlalchemy import Column, ColumnElement, Connection, Select, and_, func, literal, select

from falkirk.connectors.discretion import unheard
from falkirk.connectors.sql.columns import existing_table
from falkirk.connectors.sql.database import Database
from falkirk.connectors.sql.positions import to_key, to_position
from falkirk.connectors.sql.settling import Settling
from falkirk.connectors.sql.values import arrow_schema, chosen_columns, pieces, selected

if TYPE_CHECKING:
    from falkirk.connectors.sql.source import TableSource

SETTLE_SECONDS = 10.0
"""How long keys are left alone where nobody can tell who is still writing."""

PARTS = 16
"""Into how many tasks a large range is divided, at most."""


class TableReader:
    """Reads one table, for a source that holds only what it was given."""

    def __init__(self, source: "TableSource") -> None:
        """Nothing is opened yet."""
        self.source, self.database = source, Database(source.url)
        self._columns: list[Column[Any]] | None = None
        self._key: Any = None
        self._settling: Settling | None = None

    def latest(self, start: Any, rows_max: int | None) -> Any:
        """The last position of an epoch that begins at ``start``."""
        with self.database.reading() as connection:
            key = self._opened(connection)
            assert self._settling is not None
            reached = self._settling.look(connection, key)
            if reached is None or to_position(reached) == start:
                return start
            # Which of two keys is the larger one only the database knows: it may fold letters.
            chosen = select(key).where(self._between(start, to_position(reached))).order_by(key)
            if rows_max is None:
                there = connection.scalar(chosen.limit(1)) is not None
                return to_position(reached) if there else start
            ordered = chosen.limit(rows_max).subquery()
            last = connection.scalar(select(func.max(ordered.c[key.name])))
            return start if last is None else to_position(last)

    def follows(self, position: Any) -> bool:
        """Whether there is a row after ``position``."""
        with self.database.reading() as connection:
            self._opened(connection)
            query = select(literal(1)).where(self._between(position, None)).limit(1)
            return connection.scalar(query.select_from(self._key.table)) is not None

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The rows of a range: an Arrow table, or a frame if they are many."""
        with self.database.reading() as connection:
            self._opened(connection)
            within = self._between(start, end)
            bounds = self._bounds(connection, within) if session is not None else []
            if not bounds:
                return self._fetched(connection, within)
        ends = [start, *(to_position(bound) for bound in bounds), end]
        return spread(self.source, session, list(pairwise(ends)), self.schema)

    def part(self, start: Any, end: Any) -> Iterator[pa.RecordBatch]:
        """The rows of a range, piece by piece."""
        with self.database.reading() as connection:
            self._opened(connection)
            yield from self._pieces(connection, self._between(start, end))

    @property
    def schema(self) -> pa.Schema:
        """The columns of all rows."""
        assert self._columns is not None, "the table was looked at"
        return arrow_schema(self._columns, self.database.engine.dialect.name)

    def close(self) -> None:
        """Closes all connections."""
        self.database.close()

    def _opened(self, connection: Connection) -> Any:
        """The column of the key; the table is looked at once."""
        if self._key is None:
            table = existing_table(connection, self.source.table, self.database.place)
            (self._key,) = chosen_columns(table, [self.source.key])
            self._columns = chosen_columns(table, self.source.columns)
            arrow_schema(self._columns, connection.dialect.name)
            seconds = self.source.settle_seconds
            if seconds is None:
                told = connection.dialect.name in ("postgresql", "sqlite")
                seconds = 0.0 if told else SETTLE_SECONDS
            self._settling = Settling(seconds)
        return self._key

    def _between(self, start: Any, end: Any) -> ColumnElement[bool]:
        key = self._key
        after = [] if start is None else [key > to_key(start, key)]
        upto = [] if end is None else [key <= to_key(end, key)]
        return and_(literal(True), *after, *upto) if not (after or upto) else and_(*after, *upto)

    def _bounds(self, connection: Connection, within: ColumnElement[bool]) -> list[Any]:
        """The keys that divide a large range into parts of about the same size."""
        most, key = max(1, self.source.driver_rows_max), self._key
        count = connection.scalar(
            select(func.count()).select_from(select(key).where(within).limit(most + 1).subquery())
        )
        if not count or count <= most:
            return []
        whole = connection.scalar(select(func.count()).where(within).select_from(key.table))
        step = -(-int(whole or 0) // min(PARTS, -(-int(whole or 0) // most) * 2))
        numbered = select(key.label("key"), func.row_number().over(order_by=key).label("n")).where(
            within
        )
        rows = numbered.subquery()
        bounds = select(rows.c.key).where(rows.c.n % step == 0).order_by(rows.c.key)
        return list(connection.scalars(bounds))

    def _fetched(self, connection: Connection, within: ColumnElement[bool]) -> pa.Table:
        return pa.Table.from_batches(self._pieces(connection, within), self.schema)

    def _pieces(
        self, connection: Connection, within: ColumnElement[bool]
    ) -> Iterator[pa.RecordBatch]:
        assert self._columns is not None
        dialect = connection.dialect.name
        query: Select[Any] = select(*(selected(column, dialect) for column in self._columns))
        rows = connection.execution_options(yield_per=10_000).execute(
            query.where(within).order_by(self._key)
        )
        return pieces(rows, self.schema)


def spread(
    source: "TableSource", session: Any, parts: Sequence[tuple[Any, Any]], schema: pa.Schema
) -> Any:
    """A frame whose tasks read one part of a range each.

    The address goes to the executors inside the function, so no plan shows it.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    rows = pa.table({"part": pa.array(range(len(parts)), pa.int64())})
    frame = session.createDataFrame(rows).repartitionByRange(len(parts), "part")
    with unheard():
        return frame.mapInArrow(reader_of(source, parts), from_arrow_schema(schema))


def reader_of(source: "TableSource", parts: Sequence[tuple[Any, Any]]) -> Callable[..., Any]:
    """What a task does: it reads the parts whose numbers it is given."""
    settings: dict[str, Any] = {
        "url": source.url,
        "table": source.table,
        "key": source.key,
        "columns": tuple(source.columns),
    }

    def read_parts(numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from falkirk.connectors.sql.reading import TableReader
        from falkirk.connectors.sql.source import TableSource

        reader = TableReader(TableSource(**settings))
        try:
            for batch in numbers:
                for number in batch.column(0).to_pylist():
                    yield from reader.part(*parts[number])
        finally:
            reader.close()

    return read_parts
