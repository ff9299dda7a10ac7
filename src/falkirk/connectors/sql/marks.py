"""How far each output has come, in the database itself: moved by the transaction that writes it.

A time that is offered again is recognised where nothing can come in between.
"""

import json
from dataclasses import dataclass
from functools import cache

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    String,
    Table,
    delete,
    insert,
    inspect,
    select,
    update,
)

from falkirk.connectors.sql.database import lock_names
from falkirk.connectors.sql.making import make_table
from falkirk.core.errors import PermanentError
from falkirk.core.times import Time

NAME = "falkirk_sinks"


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one table: a row for each output that writes to it."""

    table: str
    schema: str | None = None

    @property
    def rows(self) -> Table:
        """The table of all marks."""
        return marks_table(self.schema)

    def attach(
        self, connection: Connection, output: str, store: str, replace: bool, shared: bool
    ) -> bool:
        """Makes the mark of an output; whether the table must be emptied, to ``replace``.

        A mark of another store is refused, unless that store has never written anything, or the
        table is ``shared`` and it is the mark of another output.
        """
        lock_names(connection)
        if not inspect(connection).has_table(NAME, schema=self.schema):
            make_table(connection, NAME, self.schema, columns())
        found = {
            row.output: row
            for row in connection.execute(
                select(self.rows).where(self.rows.c.table_name == self.table)
            )
            if row.output == output or not shared
        }
        mark = found.get(output)
        if mark is not None and mark.store == store:
            return False
        others = [row for row in found.values() if row.store != store and row.time is not None]
        if others and not replace:
            raise PermanentError(
                f"the table {self.table!r} has rows that another store has written, or one that is"
                f" gone, as its output {others[0].output!r}: its times would be taken for this"
                " one's. Run on the store that wrote it, write to another table, give replace=True"
                " to have the table emptied, or shared=True if it is another flow's output"
            )
        ours = [row.output for row in found.values() if row.store == store]
        if others and ours:
            raise PermanentError(
                f"the table {self.table!r} cannot be emptied for the output {output!r}: this"
                f" flow's output {ours[0]!r} writes to it too. Empty it, and delete its other rows"
                f" from {NAME}, by hand"
            )
        stale = [row.output for row in found.values() if row.store != store]
        if stale:
            chosen = self.rows.c.output.in_(stale) & (self.rows.c.table_name == self.table)
            connection.execute(delete(self.rows).where(chosen))
        row = {"output": output, "table_name": self.table, "store": store, "time": None}
        connection.execute(insert(self.rows), row)
        return bool(others)

    def move(self, connection: Connection, output: str, store: str, time: Time) -> bool:
        """Moves the mark to ``time``; whether it was before it. Nobody else moves it meanwhile."""
        at = (self.rows.c.output == output) & (self.rows.c.table_name == self.table)
        mark = connection.execute(select(self.rows).where(at).with_for_update()).one_or_none()
        if mark is None or mark.store != store:
            owner = "nobody" if mark is None else "another store"
            raise PermanentError(
                f"the mark of the output {output!r} in {NAME} belongs to {owner} by now: somebody"
                f" else writes to {self.table!r}, or has deleted it. Stop the other flow and run"
                " again"
            )
        if mark.time is not None and tuple(json.loads(mark.time)) >= tuple(time):
            return False
        connection.execute(update(self.rows).where(at).values(time=json.dumps(list(time))))
        return True

    def go_back(self, connection: Connection, output: str, time: Time | None) -> None:
        """Moves the mark back to ``time``, or to before the first, if it is after that."""
        if not inspect(connection).has_table(NAME, schema=self.schema):
            return
        at = (self.rows.c.output == output) & (self.rows.c.table_name == self.table)
        mark = connection.execute(select(self.rows).where(at).with_for_update()).one_or_none()
        if mark is None or mark.time is None:
            return
        if time is None or tuple(json.loads(mark.time)) > tuple(time):
            moved = None if time is None else json.dumps(list(time))
            connection.execute(update(self.rows).where(at).values(time=moved))


@cache
def marks_table(schema: str | None) -> Table:
    """The table that has the marks of all tables of a schema."""
    return Table(NAME, MetaData(), *columns(), schema=schema)


def columns() -> list[Column[str]]:
    """Its columns."""
    return [
        Column("output", String(255), primary_key=True),
        Column("table_name", String(255), primary_key=True),
        Column("store", String(64), nullable=False),
        Column("time", String(255)),
    ]
