"""The lease: one process writes to a store, says so every few seconds, and is fenced once it stops.

Every transaction checks, inside, that the lease is still its own. So a process that was paused for
so long that another one took over cannot write any more, whatever it believes.
"""

import threading
import time
import uuid
from datetime import UTC, datetime

from sqlalchemy import Connection, update

from falkirk.core.errors import StoreError
from falkirk.store import statements, tables
from falkirk.store.database import Database
from falkirk.store.owner import Owner, this_process

SECONDS = 30.0


class LeaseLostError(StoreError):
    """Another process writes now. Trying again cannot help."""


def hold(connection: Connection, holder: str, owner: Owner, now: float, seconds: float) -> None:
    """Writes into the row of the lease who has it, and until when."""
    connection.execute(
        update(tables.lease).values(
            holder=holder,
            host=owner.host,
            pid=owner.pid,
            started=owner.started,
            acquired=now,
            expires=now + seconds,
        )
    )


class Lease:
    """The right to write, until released or taken over."""

    def __init__(self, database: Database, seconds: float = SECONDS) -> None:
        """Takes the lease, or raises a StoreError that names who has it."""
        self.database, self.seconds = database, seconds
        self.holder, self.owner = uuid.uuid4().hex, this_process()
        self.lost = self.took_over = False
        self._stop = threading.Event()
        with database.writing() as connection:
            self._take(connection)
        self.since = time.time()
        self._heart = threading.Thread(target=self._beat, name="falkirk-lease", daemon=True)
        self._heart.start()

    def _take(self, connection: Connection) -> None:
        now = self.database.now(connection)
        row = connection.execute(statements.HOLDER).one()
        owner = Owner(row.host, row.pid, row.started)
        if row.holder and row.expires > now and not owner.dead:
            until = datetime.fromtimestamp(row.expires, UTC).isoformat(" ", "seconds")
            raise StoreError(
                f"the store at {self.database.place} is in use by process {row.pid} on {row.host}"
                f" until {until} at least: stop that process, or wait until its lease expires"
            )
        self.took_over = bool(row.holder)  # from one that is gone and has not released it
        hold(connection, self.holder, self.owner, now, self.seconds)

    def check(self, connection: Connection) -> None:
        """Raises a StoreError, inside a transaction, unless the lease is still this one."""
        row = connection.execute(statements.HOLDER).one()
        if row.holder != self.holder:
            self.lost = True
            taker = f"process {row.pid} on {row.host}" if row.holder else "nobody"
            raise LeaseLostError(
                f"this process has lost its lease of the store at {self.database.place}, which"
                f" {taker} holds now, so it must not write any more: stop it"
            )

    def renew(self) -> None:
        """Says that this process is alive."""
        with self.database.writing() as connection:
            self.check(connection)
            expires = self.database.now(connection) + self.seconds
            connection.execute(update(tables.lease).values(expires=expires))

    def release(self) -> None:
        """Lets others write."""
        self._stop.set()
        if self._heart is not threading.current_thread():
            self._heart.join()
        with self.database.writing() as connection:
            mine = tables.lease.c.holder == self.holder
            connection.execute(update(tables.lease).where(mine).values(holder="", expires=0.0))

    def _beat(self) -> None:
        while not self._stop.wait(self.seconds / 3):
            try:
                self.renew()
            except StoreError:
                # A lease that was lost stays lost; anything else may pass until the next beat, and
                # transactions meet the same trouble and report it.
                if self.lost:
                    return
