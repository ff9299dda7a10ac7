"""What monitors read and write: announced checkpoints, and the low-watermarks that follow.

Reading needs no lease, and watermarks only grow, so any number of monitors may run beside the flow,
on this machine or on others that reach the database.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.errors import StoreError
from falkirk.core.times import ProcessorId
from falkirk.store import tables
from falkirk.store.codec import (
    checkpoint_from_json,
    frontier_from_json,
    frontier_from_key,
    frontier_key,
    parsed,
)
from falkirk.store.database import Database
from falkirk.store.noting import UNDO, found
from falkirk.store.pins import Pinned, pins_in
from falkirk.store.recoveries import newest
from falkirk.store.requests import Request, waiting

WATERMARK = "watermark:"


class Notice(NamedTuple):
    """A durable checkpoint; ``previous`` is the frontier of the one that must be durable, too."""

    number: int
    processor: ProcessorId
    checkpoint: Checkpoint
    previous: Any


class News(NamedTuple):
    """What a store says at one moment.

    ``incarnations`` tells how often each processor was rolled back: whenever that changes, notices
    that were there before may be gone. ``floors`` is what is folded of each processor; of the
    checkpoints inside only the largest is left.
    """

    incarnations: dict[ProcessorId, int]
    floors: dict[ProcessorId, Any]
    notices: list[Notice]


class Noticeboard:
    """The part of a store that monitors look at."""

    def __init__(self, database: Database) -> None:
        """Reads and writes ``database``."""
        self.database = database

    def description(self) -> dict[str, Any]:
        """The description of the flow that the store belongs to."""
        facts = tables.facts
        with self.database.reading() as connection:
            known = connection.scalar(select(facts.c.value).where(facts.c.name == "flow"))
        if known is None:
            raise StoreError(
                f"the store at {self.database.place} belongs to no flow yet: run one on it first"
            )
        found: dict[str, Any] = parsed(known)
        return found

    def news(self, after: int) -> News:
        """One consistent look; only checkpoints after the one with the number ``after``."""
        processors, table = tables.processors, tables.checkpoints
        with self.database.reading() as connection:
            standing = connection.execute(select(processors)).all()
            rows = connection.execute(
                select(table).where(table.c.id > after).order_by(table.c.id)
            ).all()
        return News(
            {ProcessorId(row.name): int(row.incarnation) for row in standing},
            {
                ProcessorId(row.name): frontier_from_json(parsed(row.base)["frontier"])
                for row in standing
                if row.base
            },
            [
                Notice(
                    row.id,
                    ProcessorId(row.processor),
                    checkpoint_from_json(parsed(row.content)),
                    frontier_from_key(row.previous),
                )
                for row in rows
            ],
        )

    def pins(self) -> tuple[Pinned, ...]:
        """The pins, beyond which nothing may be collected."""
        with self.database.reading() as connection:
            return pins_in(connection)

    def requests(self) -> list[Request]:
        """What people ask of the run and nobody has answered yet."""
        return waiting(self.database)

    def undone(self) -> dict[ProcessorId, Any]:
        """What is left to be taken back by outputs: each keeps no more than its frontier."""
        with self.database.reading() as connection:
            return {
                ProcessorId(p): frontier_from_json(value) for p, value in found(connection, UNDO)
            }

    def last_recovery(self) -> int:
        """The number of the newest recovery that is remembered."""
        with self.database.reading() as connection:
            return newest(connection)

    def watermarks(self) -> dict[ProcessorId, Any]:
        """The low-watermarks that monitors have posted."""
        facts = tables.facts
        with self.database.reading() as connection:
            rows = connection.execute(select(facts).where(facts.c.name.startswith(WATERMARK)))
            return {
                ProcessorId(row.name.removeprefix(WATERMARK)): frontier_from_key(row.value)
                for row in rows
            }

    def post(self, watermarks: Mapping[ProcessorId, Any]) -> None:
        """Raises low-watermarks; one that another monitor has raised higher stays."""
        with self.database.writing() as connection:
            for p, frontier in watermarks.items():
                self._raise(connection, WATERMARK + p, frontier)

    def _raise(self, connection: Connection, name: str, frontier: Any) -> None:
        facts = tables.facts
        known = connection.scalar(
            select(facts.c.value).where(facts.c.name == name).with_for_update()
        )
        if known is None:
            connection.execute(insert(facts), {"name": name, "value": frontier_key(frontier)})
            return
        raised = frontier_key(frontier_from_key(known) | frontier)
        if raised != known:
            connection.execute(update(facts).where(facts.c.name == name).values(value=raised))


def lower(
    connection: Connection, moved: Iterable[ProcessorId], frontiers: Mapping[ProcessorId, Any]
) -> None:
    """Takes back posted low-watermarks of those that ``moved``, where a person went below them.

    Of who keeps nothing, and so has no frontier here, it goes until monitors post it anew.
    """
    facts = tables.facts
    for p in moved:
        here, frontier = facts.c.name == WATERMARK + p, frontiers.get(p)
        known = connection.scalar(select(facts.c.value).where(here).with_for_update())
        if known is None:
            continue
        if frontier is None:
            connection.execute(delete(facts).where(here))
        elif not frontier_from_key(known) <= frontier:
            lowered = frontier_key(frontier_from_key(known) & frontier)
            connection.execute(update(facts).where(here).values(value=lowered))
