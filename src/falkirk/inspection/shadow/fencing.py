"""Holding a store for a moment by its lease alone, so that it can be closed and moved meanwhile.

A lease is renewed by a thread that keeps the database open. A store that is to get another place
must be closed before; so here the row of the lease is written and left, and expires by itself.
"""

import uuid

from sqlalchemy import Connection, update

from falkirk.core.errors import StoreError
from falkirk.inspection.look import holder_of
from falkirk.store import tables
from falkirk.store.database import Database
from falkirk.store.lease import hold
from falkirk.store.owner import this_process

SECONDS = 120.0


class Fence:
    """The right to write to some stores until they were moved."""

    def __init__(self) -> None:
        """Holds nothing yet."""
        self.holder, self.owner = uuid.uuid4().hex, this_process()

    def take(self, connection: Connection, database: Database) -> None:
        """Holds a store, inside a transaction, or refuses one that somebody runs on."""
        now = database.now(connection)
        row = connection.execute(tables.lease.select()).one()
        holder = holder_of(connection, now)
        if row.holder != self.holder and holder.state in ("live", "expired"):
            raise StoreError(
                f"the store at {database.place} is in use by process {holder.pid} on"
                f" {holder.host}: stop that process first"
            )
        hold(connection, self.holder, self.owner, now, SECONDS)

    def release(self, connection: Connection) -> None:
        """Lets a store go, if it is held."""
        mine = tables.lease.c.holder == self.holder
        connection.execute(update(tables.lease).where(mine).values(holder="", expires=0.0))
