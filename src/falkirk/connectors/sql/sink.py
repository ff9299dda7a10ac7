"""A table as a sink: all rows of a time in one transaction with the mark that they are there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import ConfigurationError
from falkirk.core.times import Time

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from falkirk.connectors.sql.database import Database

MODES = ("append", "upsert", "changes")


@dataclass(frozen=True, repr=False)
class TableSink:
    """Writes to the table ``table`` of the database at ``url``.

    It is one of PostgreSQL, SQLite, MariaDB or MySQL.

    ``append`` adds all rows. ``upsert`` puts each row in the place of the one with its ``key``, one
    column or several. ``changes`` takes what ``Collection.changes`` gives, and adds and removes as
    many of each row as the column ``change`` says, so that the table is the collection.

    The table is made if it is missing. How far each output has come is a row of ``falkirk_sinks``
    in the same database, moved by the transaction that writes the rows: so it is exactly once.
    ``at_least_once`` does without that row. A table that another store has written to is refused:
    with ``replace`` it is emptied instead, with ``shared`` other outputs may write to it too.

    With ``epoch``, the name of a column, ``append`` adds to each row the epoch that it is of. Then
    rows can be taken back when a person rolls the flow back; else that is refused.
    """

    url: str
    table: str
    mode: str = "append"
    key: str | Sequence[str] = ()
    change: str = "change"
    at_least_once: bool = False
    replace: bool = False
    shared: bool = False
    epoch: str = ""
    _open: dict[str, Any] = field(default_factory=dict, init=False, compare=False)

    def __post_init__(self) -> None:
        """Refuses what has no meaning."""
        if self.mode not in MODES:
            raise ConfigurationError(f"a table is written by {', '.join(MODES)}, not {self.mode!r}")
        if (self.mode == "upsert") != bool(self.keys):
            raise ConfigurationError(
                "mode 'upsert' needs a key=, the columns by which rows are told apart"
                if self.mode == "upsert"
                else f"mode {self.mode!r} has no use for a key"
            )
        if self.mode != "append" and self.at_least_once:
            raise ConfigurationError(
                f"mode {self.mode!r} needs each time once and in order: leave out at_least_once"
            )

        if self.replace and self.shared:
            raise ConfigurationError(
                "a table that others write to is not emptied: replace or share"
            )

        if self.epoch and (self.mode != "append" or self.shared):
            raise ConfigurationError(
                "a column for the epoch is for a table of rows that this output alone appends: in"
                " mode 'upsert' or 'changes' a row is of several epochs, and others have their own"
            )

    @property
    def exactly_once(self) -> bool:
        """Whether times that are offered again are recognised."""
        return not self.at_least_once

    @property
    def places(self) -> tuple[str, ...]:
        """The column of its epochs: others' rows with it would be taken back, too.

        Otherwise outputs may share a table, for each has a mark of its own.
        """
        if not self.epoch:
            return ()
        from falkirk.store.redaction import redacted

        return (f"the column {self.epoch!r} of {self.table!r} at {redacted(self.url)}",)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the key."""
        return (self.key,) if isinstance(self.key, str) else tuple(self.key)

    def attach(self, name: str, store: str) -> None:
        """Takes the table for an output of a store, or refuses one that holds another's."""
        with self.database.writing("prepared") as connection:
            self.attach_within(connection, name, store)

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Writes all rows of ``time``, unless they are there."""
        with self.database.writing() as connection:
            columns = self.write_within(connection, name, time, batch)
        self.remember(columns)

    @property
    def undo(self) -> "Callable[[str, Any], None] | None":
        """Takes back what a frontier does not have, where rows say of which epoch they are."""
        return self._undo if self.epoch else None

    def _undo(self, name: str, kept: Any) -> None:
        with self.database.writing() as connection:
            self.undo_within(connection, name, kept)

    def close(self) -> None:
        """Closes all connections."""
        if "database" in self._open:
            self._open["database"].close()

    # Within a transaction of whoever writes.

    def attach_within(self, connection: "Connection", name: str, store: str) -> None:
        """Makes the mark of an output."""
        self._open.setdefault("stores", {})[name] = store
        self._open.pop("table", None)
        if self.exactly_once:
            self._mark(connection, name, store)

    def _mark(self, connection: "Connection", name: str, store: str) -> None:
        from sqlalchemy import delete

        from falkirk.connectors.sql.columns import known_table

        place, plain = split(self.table)
        if self._marks.attach(connection, name, store, self.replace, self.shared):
            table = known_table(connection, plain, place)
            if table is not None:
                connection.execute(delete(table))

    def write_within(self, connection: "Connection", name: str, time: Time, batch: Any) -> Any:
        """Writes all rows, unless they are there; what :meth:`remember` is to be told."""
        from falkirk.connectors.sql import writing

        store = self._open.get("stores", {}).get(name)
        if store is None and self.exactly_once:  # nobody has said whose times these are
            store = ""
            self._mark(connection, name, store)
        if self.exactly_once and not self._marks.move(connection, name, store, time):
            return None
        pieces = iter(batch.arrow_batches())
        if self.epoch:
            from falkirk.connectors.sql.epochs import stamped

            pieces = stamped(pieces, self.epoch, int(time[0]), self.table)
        first = next(pieces)
        table = self._target(connection, first.schema)
        names = [each for each in first.schema.names if not self._counts(each)]
        whole = prepended(first, pieces)
        if self.mode == "append":
            writing.append(connection, table, names, whole)
        elif self.mode == "upsert":
            writing.upsert(connection, table, names, whole, self.keys)
        else:
            writing.change(connection, table, names, whole, self.change)
        return (first.schema, table)

    def undo_within(self, connection: "Connection", name: str, kept: Any) -> None:
        """Deletes the rows of epochs that do not lie in ``kept``, and moves the mark back."""
        from falkirk.connectors.sql.epochs import delete_after

        last = kept[0] if kept else None
        place, plain = split(self.table)
        delete_after(connection, plain, place, self.epoch, last)
        self._marks.go_back(connection, name, None if last is None else (last,))

    def remember(self, columns: Any) -> None:
        """A transaction has ended well: its table is as it was found, or made."""
        if columns is not None:
            self._open["table"] = columns

    @property
    def database(self) -> "Database":
        """The database, opened when it is first needed."""
        from falkirk.connectors.sql.database import Database, check_written

        if "database" not in self._open:
            check_written(self.url)
            self._open["database"] = Database(self.url)
        found: Database = self._open["database"]
        return found

    @property
    def _marks(self) -> Any:
        from falkirk.connectors.sql.marks import Marks

        place, plain = split(self.table)
        return Marks(plain, place)

    def _counts(self, column: str) -> bool:
        return self.mode == "changes" and column == self.change

    def _target(self, connection: "Connection", schema: Any) -> Any:
        """The table, looked at again whenever other columns come."""
        from falkirk.connectors.sql.columns import target_table

        known, table = self._open.get("table", (None, None))
        if known == schema:
            return table
        if self.mode == "changes":
            schema = uncounted(schema, self.change, self.table)
        place, plain = split(self.table)
        compared = schema.names if self.mode == "changes" else self.keys
        return target_table(connection, plain, schema, place, self.keys, compared)

    def __repr__(self) -> str:
        from falkirk.store.redaction import redacted

        return f"TableSink({redacted(self.url)!r}, {self.table!r}, mode={self.mode!r})"


def split(table: str) -> tuple[str | None, str]:
    """The schema and the name of a table.

    >>> split("orders"), split("sales.orders")
    ((None, 'orders'), ('sales', 'orders'))
    """
    place, _, plain = table.rpartition(".")
    return place or None, plain


def prepended(first: Any, rest: Any) -> Any:
    """All pieces, of which the first was looked at already."""
    yield first
    yield from rest


def uncounted(schema: Any, column: str, table: str) -> Any:
    """The columns of rows that are counted by ``column``."""
    from pyarrow.types import is_integer  # type: ignore[import-untyped]

    from falkirk.core.errors import PermanentError

    found = schema.get_field_index(column)
    if found < 0 or not is_integer(schema.field(found).type):
        raise PermanentError(
            f"the rows for {table!r} do not say how many of each come or go: mode 'changes' takes"
            f" a stream of collection.changes({column!r}); name its column by change="
        )
    return schema.remove(found)
