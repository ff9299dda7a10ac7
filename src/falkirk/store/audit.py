"""What people have done to a store by hand: who, when, what and why, in the same transaction."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from falkirk.store import tables
from falkirk.store.codec import parsed, text

AUDIT = "audit:"


def note(connection: Connection, entry: Mapping[str, Any]) -> None:
    """Adds ``entry``; nothing ever changes or removes one."""
    facts = tables.facts
    name = f"{AUDIT}{len(entries(connection)) + 1:08d}"
    connection.execute(insert(facts), {"name": name, "value": text(entry)})


def entries(connection: Connection) -> list[dict[str, Any]]:
    """All that was noted, the oldest first."""
    facts = tables.facts
    rows = connection.execute(
        select(facts).where(facts.c.name.startswith(AUDIT)).order_by(facts.c.name)
    )
    return [parsed(row.value) for row in rows]
