"""Facts about a store that people and runs note down: pins, requests, recoveries.

A fact is a name and a JSON value. Whatever belongs together is noted in one transaction, with the
retraction that it speaks of and with its entry in the audit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from falkirk.store import audit, tables
from falkirk.store.codec import parsed, text

UNDO = "undo:"
"""What an output is to take back, until it has."""


@dataclass(frozen=True, slots=True)
class Note:
    """Facts to put, or to remove where they are None; and an entry for the audit, if any."""

    facts: Mapping[str, Any]
    entry: Mapping[str, Any] | None = None


def write(connection: Connection, note: Note) -> None:
    """Notes everything down."""
    for name, value in note.facts.items():
        put(connection, name, value)
    if note.entry is not None:
        audit.note(connection, note.entry)


def put(connection: Connection, name: str, value: Any) -> None:
    """Puts one fact in the place of an older one; None removes it."""
    facts = tables.facts
    here = facts.c.name == name
    if value is None:
        connection.execute(delete(facts).where(here))
    elif not connection.execute(update(facts).where(here).values(value=text(value))).rowcount:
        connection.execute(insert(facts), {"name": name, "value": text(value)})


def found(connection: Connection, prefix: str) -> Iterator[tuple[str, Any]]:
    """The facts whose names begin with ``prefix``, in the order of the rest of their names."""
    facts = tables.facts
    rows = connection.execute(
        select(facts).where(facts.c.name.startswith(prefix, autoescape=True)).order_by(facts.c.name)
    )
    for row in rows:
        yield row.name.removeprefix(prefix), parsed(row.value)
