"""One consistent look at a store, without a lease and without the user's code."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from falkirk.core.checkpoint import Restorable
from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Pin
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.machine.ledger import Ledger
from falkirk.core.machine.recovery import offered
from falkirk.core.machine.stored import Stored
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import ProcessorId
from falkirk.dataflow.rebuilding import flow_of
from falkirk.store import audit, tables
from falkirk.store.adoption import ABOUT
from falkirk.store.codec import frontier_from_key, parsed, time_from_key
from falkirk.store.ledgers import read_base, read_records, undecoded
from falkirk.store.noticeboard import WATERMARK
from falkirk.store.opening import open_store
from falkirk.store.owner import Owner
from falkirk.store.pins import Pinned, held, pins_in
from falkirk.store.reading import Reading, durable_prefix
from falkirk.store.recoveries import RECOVERY
from falkirk.store.store import SqlStore


class Use(NamedTuple):
    """That a processor needs a durable batch: ``time`` is None below its low-watermark.

    ``part`` is "record" and "base" for state, and a number for a logged message.
    """

    batch: str
    processor: ProcessorId
    time: Any
    part: str
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes to a store. ``state`` is live, free, dead (killed) or expired (out of reach)."""

    state: str
    host: str
    pid: int
    since: float
    expires: float


@dataclass(frozen=True)
class Look:
    """All that a store says at one moment."""

    place: str
    description: Mapping[str, Any]
    about: Mapping[str, Any]
    flow: Flow
    stored: Mapping[ProcessorId, Stored]
    holder: Holder
    posted: Mapping[ProcessorId, Any]
    uses: tuple[Use, ...]
    audit: tuple[Mapping[str, Any], ...]
    fingerprint: str
    now: float
    pins: tuple[Pinned, ...] = ()

    @property
    def name(self) -> str:
        """The name of the flow."""
        return str(self.description["name"])

    @cached_property
    def restorables(self) -> dict[ProcessorId, Restorable]:
        """What each processor can be restored to from the store alone."""
        return {p: offered(self.flow, p, self.stored[p]) for p in self.flow.processors}

    @cached_property
    def solution(self) -> Solution:
        """Where everybody would go if everything failed now: the low-watermarks (§4.2)."""
        return solve(self.flow.recovery, self.restorables)

    @cached_property
    def uses_of(self) -> dict[ProcessorId, list[Use]]:
        """The batches that each processor needs, of those who need any."""
        found: dict[ProcessorId, list[Use]] = {}
        for use in self.uses:
            found.setdefault(use.processor, []).append(use)
        return found

    def policy(self, p: ProcessorId) -> str:
        """The policy of ``p`` as the user wrote it, or just its regime in an older store."""
        told = self.about.get("processors", {}).get(p)
        if told is not None:
            return str(told["policy"])
        return str(self.description["processors"][p]["regime"]).replace("-", "_")

    def location(self, p: ProcessorId) -> str:
        """Where ``p`` was written, if the store knows."""
        return str(self.about.get("processors", {}).get(p, {}).get("location", ""))

    def kind(self, p: ProcessorId) -> str:
        """The class of what runs there."""
        return str(self.description["processors"][p]["kind"])

    def undoes(self, p: ProcessorId) -> bool:
        """Whether ``p`` is an output whose sink can take back what it has shown."""
        return bool(self.about.get("processors", {}).get(p, {}).get("undoes", False))

    def saved(self, p: ProcessorId) -> Any:
        """The largest frontier of which ``p`` has a durable checkpoint."""
        stored = self.stored[p]
        return (
            stored.checkpoints[-1].frontier if stored.checkpoints else stored.ledger.base.frontier
        )

    @cached_property
    def held(self) -> Pin:
        """What pins hold back."""
        return held(self.pins)

    def pinned_by(self, p: ProcessorId, frontier: Any) -> list[str]:
        """The pins that keep something of ``p`` inside ``frontier`` from being collected."""
        return [
            pin.name for pin in self.pins if p in pin.frontiers and not frontier <= pin.frontiers[p]
        ]

    @property
    def embedded(self) -> bool:
        """Whether a run of this store may have released by a monitor of its own."""
        return bool(self.about.get("embedded", True))

    def watermark(self, p: ProcessorId) -> Any:
        """The low-watermark of ``p`` by which a run goes: its own, or what monitors have posted."""
        floor = self.stored[p].ledger.base.frontier
        return self.solution.frontiers[p] if self.embedded else self.posted.get(p, floor)

    def final(self, p: ProcessorId) -> Any:
        """What of ``p`` may have been collected, released or acknowledged: it is never taken back.

        Pins keep the past from that; outputs they hold back only where they were asked to.
        """
        floor, allowed = self.stored[p].ledger.base.frontier, self.watermark(p)
        output = self.flow.processors[p].role is Role.OUTPUT
        bounds = self.held.shown if output else self.held.kept
        return floor | (allowed & bounds[p] if p in bounds else allowed)


@contextmanager
def opened(location: str) -> Iterator[SqlStore]:
    """The store at ``location``, which must be there."""
    store = open_store(location, make=False)
    try:
        yield store
    finally:
        store.close()


def look_at(location: str) -> Look:
    """Looks at the store at ``location``."""
    with opened(location) as store:
        return look(store)


def look(store: SqlStore) -> Look:
    """Looks at an open store."""
    with store.database.reading() as connection:
        known = select(tables.facts.c.name, tables.facts.c.value)
        many = tables.facts.c.name.startswith(RECOVERY)
        facts = dict(connection.execute(known.where(~many)).all())
        if "flow" not in facts:
            raise StoreError(
                f"the store at {store.database.place} belongs to no flow yet: run one on it first"
            )
        description = parsed(facts["flow"])
        flow = flow_of(description)
        now = store.database.now(connection)
        return Look(
            store.database.place,
            description,
            parsed(facts[ABOUT]) if ABOUT in facts else {},
            flow,
            stored_in(connection, store, flow),
            holder_of(connection, now),
            {
                ProcessorId(name.removeprefix(WATERMARK)): frontier_from_key(value)
                for name, value in facts.items()
                if name.startswith(WATERMARK)
            },
            uses_in(connection),
            tuple(audit.entries(connection)),
            fingerprint(connection),
            now,
            pins_in(connection),
        )


def stored_in(connection: Connection, store: SqlStore, flow: Flow) -> dict[ProcessorId, Stored]:
    """Ledgers and checkpoints of all processors; batches are left as they were written."""
    reading = Reading(connection, store.files, lambda reference, label: None, verify=False)
    incarnations = dict(
        connection.execute(select(tables.processors.c.name, tables.processors.c.incarnation)).all()
    )
    found = {}
    for p in flow.processors:
        ledger = Ledger.of(flow.graph, p)
        ledger.base = read_base(connection, p, undecoded) or ledger.base
        for record in read_records(connection, p, undecoded):
            ledger.records[record.time] = record
        checkpoints = durable_prefix(ledger, reading.checkpoints(p))
        found[p] = Stored(ledger, checkpoints, int(incarnations.get(p, 0)))
    return found


def holder_of(connection: Connection, now: float) -> Holder:
    """Who has the lease."""
    row = connection.execute(select(tables.lease)).one()
    if not row.holder:
        state = "free"
    elif Owner(row.host, row.pid, row.started).dead:
        state = "dead"
    else:
        state = "live" if row.expires > now else "expired"
    return Holder(state, row.host, row.pid, row.acquired, row.expires)


def uses_in(connection: Connection) -> tuple[Use, ...]:
    """Which processor needs which durable batch."""
    batches, uses = tables.batches, tables.uses
    rows = connection.execute(
        select(uses.c.batch, uses.c.processor, uses.c.time, uses.c.part)
        .add_columns(batches.c.size, batches.c.rows)
        .join(batches, batches.c.name == uses.c.batch)
        .order_by(uses.c.processor, uses.c.time, uses.c.part)
    )
    return tuple(
        Use(
            row.batch,
            ProcessorId(row.processor),
            None if row.time == tables.BASE else time_from_key(row.time),
            row.part,
            row.size,
            row.rows,
        )
        for row in rows
    )


def fingerprint(connection: Connection) -> str:
    """Tells whether anything that recovery depends on has changed between two looks."""
    digest = hashlib.blake2b(digest_size=16)
    checkpoints, processors, records = tables.checkpoints, tables.processors, tables.records
    for question in (
        select(checkpoints.c.id, checkpoints.c.processor, checkpoints.c.frontier).order_by(
            checkpoints.c.id
        ),
        select(processors).order_by(processors.c.name),
        select(records.c.processor, records.c.time).order_by(records.c.processor, records.c.time),
        select(tables.facts.c.value).where(tables.facts.c.name == "flow"),
        select(tables.facts).where(tables.facts.c.name.startswith(WATERMARK)).order_by("name"),
    ):
        for row in connection.execute(question):
            digest.update(repr(tuple(row)).encode())
        digest.update(b"\0")
    return digest.hexdigest()
