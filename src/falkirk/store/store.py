"""The store: SQL metadata and Parquet files behind the protocol that the runtime uses."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Retract
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId
from falkirk.store import adoption, tables
from falkirk.store.codec import frontier_key, parsed
from falkirk.store.database import Database
from falkirk.store.files import Files
from falkirk.store.garbage import Collector
from falkirk.store.identity import identity_of
from falkirk.store.lease import SECONDS, Lease
from falkirk.store.noticeboard import Noticeboard
from falkirk.store.noting import Note
from falkirk.store.protocol import Damage, Garbage, Revive, StoreEffect
from falkirk.store.reading import Reading
from falkirk.store.reference import Reference
from falkirk.store.rows import Rows
from falkirk.store.writing import carry_out, carry_out_all


class SqlStore:
    """Durable ledgers and batches of one flow."""

    def __init__(
        self, database: Database, files: Files, closing: Callable[[], None] = lambda: None
    ) -> None:
        """A store over an open database and a data folder; ``closing`` is called at the end."""
        self.database, self.files = database, files
        self.damages: tuple[Damage, ...] = ()
        self.lease: Lease | None = None
        self.flow: Flow | None = None
        self._collector = Collector(database, files)
        # Nobody deletes a file between our reading its row and our holding its Reference.
        self._changing = threading.RLock()
        self._closing, self._closed = closing, False
        files.users = self._users
        self._identity: str | None = None
        self._since = 0.0

    @property
    def noticeboard(self) -> Noticeboard:
        """What monitors read and write."""
        return Noticeboard(self.database)

    @property
    def identity(self) -> str:
        """Tells this store from every other one, also from one that was here before."""
        if self._identity is None:
            self._identity = identity_of(self.database)
        return self._identity

    def acquire(self, seconds: float = SECONDS) -> Lease:
        """Becomes the one process that writes, and clears away what others left half-written."""
        if self.lease is not None and not self.lease.lost:
            return self.lease
        self.lease = Lease(self.database, seconds)
        # Files have the time of where they are, which need not be ours.
        self._since = self.files.clock(self.lease.since)
        self._collector.sweep(self._since)
        return self.lease

    def adopt(self, description: Mapping[str, Any]) -> None:
        """Remembers the description of the flow, or refuses one that differs from it."""
        with self.database.writing() as connection:
            self._held().check(connection)
            adoption.adopt(connection, description, self.database.place)

    def load(
        self,
        flow: Flow,
        revive: Revive,
        names: Iterable[ProcessorId] | None = None,
        verify: bool = False,
    ) -> dict[ProcessorId, Stored]:
        """What is durable of the processors; ``verify`` reads every file to check it."""
        self.flow = flow
        with self._changing, self.database.reading() as connection:
            reading = Reading(connection, self.files, revive, verify)
            chosen = flow.processors if names is None else names
            found = {p: reading.load(flow, p) for p in chosen}
        self.damages = tuple(reading.damages)
        return found

    def transact(
        self, effects: Sequence[StoreEffect], captures: Mapping[int, Any] | None = None
    ) -> None:
        """Carries out all ``effects`` in order, in one transaction: all of them or none."""
        lease = self._held()
        self.files.sync()
        with self._changing, self.database.writing() as connection:
            lease.check(connection)
            rows = Rows(connection, self.files)
            carry_out_all(rows, effects, captures or {}, self.flow)
            unused = rows.settle()
        self._collector.doom(unused)

    def repair(
        self, effect: Retract | Note, check: Callable[[Connection], None] = lambda _: None
    ) -> None:
        """Carries out a person's rollback, or notes what a person wants, in one transaction.

        ``check`` looks at the store inside that transaction, and raises where it objects.
        """
        lease = self._held()
        with self._changing, self.database.writing() as connection:
            lease.check(connection)
            check(connection)
            rows = Rows(connection, self.files)
            carry_out(rows, effect)
            unused = rows.settle()
        self._collector.doom(unused)

    def references(self) -> list[Reference]:
        """Every durable batch that is in use."""
        batches = tables.batches
        with self.database.reading() as connection:
            rows = connection.execute(select(batches).order_by(batches.c.name)).all()
        return [Reference(*row) for row in rows]

    def captured(self, processor: ProcessorId, frontier: Any) -> Any:
        """What an opaque processor gave for its checkpoint of ``frontier``; None for ∅."""
        if frontier.is_empty:
            return None
        table = tables.checkpoints
        at = (table.c.processor == processor) & (table.c.frontier == frontier_key(frontier))
        with self.database.reading() as connection:
            found = connection.scalar(select(table.c.captured).where(at))
        if found is None:
            raise StoreError(f"nothing was captured of {processor!r} at {frontier!r}")
        return parsed(found)

    def lingering(self, names: Iterable[str]) -> bool:
        """Whether files that have lost their last use are still there, for somebody holds them."""
        return self._collector.lingering(names)

    def collect_garbage(self) -> Garbage:
        """Deletes the files that no row refers to and that nobody here holds."""
        lease = self._held()
        with self.database.reading() as connection:
            lease.check(connection)
        return self._collector.sweep(self._since)

    def close(self) -> None:
        """Gives up the lease and lets go of everything."""
        if self._closed:
            return
        self._closed = True
        try:
            if self.lease is not None:
                self.lease.release()
        finally:
            self.database.close()
            self._closing()

    def _held(self) -> Lease:
        if self.lease is None:
            raise StoreError("acquire the store before writing to it")
        return self.lease

    def _users(self, name: str) -> str:
        uses = tables.uses
        with self.database.reading() as connection:
            found = connection.execute(
                select(uses.c.processor, uses.c.time)
                .where(uses.c.batch == name)
                .distinct()
                .order_by(uses.c.processor, uses.c.time)
            ).all()
        if not found:
            return ""
        times = [
            f"{row.processor!r} "
            + ("below its low-watermark" if row.time == tables.BASE else f"at {row.time}")
            for row in found
        ]
        return f"; needed by {', '.join(times)}"
