"""The recoveries of a store, one fact each, the newest of them."""

from typing import Any

from sqlalchemy import Connection, func, select

from falkirk.store import tables
from falkirk.store.codec import parsed

RECOVERY = "recovery:"
KEPT_MAX = 100
"""So many are remembered."""


def fact(recovery: dict[str, Any]) -> dict[str, Any]:
    """A recovery as it is noted, under its ``number``; it takes the place of one long ago."""
    number = int(recovery["number"])
    return {name(number): recovery, name(number - KEPT_MAX): None}


def name(number: int) -> str:
    """The name of the fact about a recovery; names sort as numbers do.

    >>> name(12)
    'recovery:0000000012'
    """
    return f"{RECOVERY}{max(0, number):010d}"


def newest(connection: Connection) -> int:
    """The number of the newest recovery, 0 if there was none."""
    facts = tables.facts
    last = connection.scalar(
        select(func.max(facts.c.name)).where(facts.c.name.startswith(RECOVERY))
    )
    return int(last.removeprefix(RECOVERY)) if last else 0


def recoveries_in(connection: Connection, after: int = 0) -> list[dict[str, Any]]:
    """What is remembered, the oldest first."""
    facts = tables.facts
    rows = connection.scalars(
        select(facts.c.value)
        .where(facts.c.name.startswith(RECOVERY), facts.c.name > name(after))
        .order_by(facts.c.name)
    )
    return [parsed(row) for row in rows]
