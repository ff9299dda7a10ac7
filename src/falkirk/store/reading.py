"""Loading what is durable: ledgers, the checkpoints that count, and what damage has cost."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.errors import StoreError
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.ledger import Ledger
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId
from falkirk.store import tables
from falkirk.store.codec import checkpoint_from_json, frontier_from_key, parsed, time_from_key
from falkirk.store.contents import Decode, reference_of
from falkirk.store.files import Files
from falkirk.store.ledgers import read_base, read_records
from falkirk.store.protocol import Damage, Revive
from falkirk.store.reference import Reference

Row = tuple[Checkpoint, Any]
"""A checkpoint, and the frontier of the one before it."""


class Reading:
    """One consistent look at a store."""

    def __init__(self, connection: Connection, files: Files, revive: Revive, verify: bool) -> None:
        """Nothing is read yet."""
        self.connection, self.files, self.verify = connection, files, verify
        self.revive = revive
        self.damages: list[Damage] = []
        self._problems: dict[str, str | None] = {}
        self._sizes: Mapping[str, int] | None = None

    def load(self, flow: Flow, p: ProcessorId) -> Stored:
        """What is durable of ``p``, without the checkpoints that need a damaged batch."""
        references = self.references(p)
        decode = self.decoder(references)
        ledger = Ledger.of(flow.graph, p)
        ledger.base = read_base(self.connection, p, decode) or ledger.base
        for record in read_records(self.connection, p, decode):
            ledger.records[record.time] = record
        checkpoints = durable_prefix(ledger, self.checkpoints(p))
        for name, times in self.damaged(p, references).items():
            lost = [c for c in checkpoints if any(t is None or t in c.frontier for t in times)]
            checkpoints = tuple(c for c in checkpoints if c not in lost)
            problem = self._problems[name] or ""
            frontiers = tuple(c.frontier for c in lost)
            self.damages.append(Damage(p, self.path(name), problem, tuple(times), frontiers))
        processors = tables.processors
        incarnation = self.connection.scalar(
            select(processors.c.incarnation).where(processors.c.name == p)
        )
        return Stored(ledger, checkpoints, incarnation or 0)

    def references(self, p: ProcessorId) -> dict[str, Reference]:
        """The durable batches that ``p`` needs."""
        batches, uses = tables.batches, tables.uses
        mine = select(uses.c.batch).where(uses.c.processor == p)
        found = self.connection.execute(select(batches).where(batches.c.name.in_(mine)))
        return {row.name: self.files.hold(Reference(*row)) for row in found}

    def decoder(self, references: Mapping[str, Reference]) -> Decode:
        """Makes batches of what records name."""

        def decode(value: Mapping[str, Any]) -> Any:
            if "json" in value:
                return value["json"]
            name = value["name"]
            if name not in references:
                raise StoreError(f"a record names {name!r}, which has no row: the store is damaged")
            return self.revive(reference_of(value, references[name]), value["label"])

        return decode

    def damaged(self, p: ProcessorId, references: Mapping[str, Reference]) -> dict[str, list[Any]]:
        """The damaged batches of ``p``, each with the times that need it; None is the base."""
        uses = tables.uses
        bad = {name for name, reference in references.items() if self.problem(reference)}
        found: dict[str, list[Any]] = defaultdict(list)
        if bad:
            needed = select(uses.c.batch, uses.c.time).where(uses.c.processor == p).distinct()
            for name, key in self.connection.execute(needed.order_by(uses.c.batch, uses.c.time)):
                if name in bad:
                    found[name].append(None if key == tables.BASE else time_from_key(key))
        return found

    def problem(self, reference: Reference) -> str | None:
        """What is wrong with a batch, looked at once."""
        if reference.name not in self._problems:
            if self._sizes is None and not self.verify:
                self._sizes = self.files.sizes()
            found = self.files.problem(reference, self.verify, self._sizes)
            self._problems[reference.name] = found
        return self._problems[reference.name]

    def path(self, name: str) -> str:
        """Where the batch is."""
        return self.files.told(name)

    def checkpoints(self, p: ProcessorId) -> list[Row]:
        """The checkpoints of ``p``, smaller ones first."""
        table = tables.checkpoints
        ordered: list[Row] = []
        for row in self.connection.execute(
            select(table).where(table.c.processor == p).order_by(table.c.id)
        ):
            checkpoint = checkpoint_from_json(parsed(row.content))
            frontier = checkpoint.frontier
            earlier = [r for r in ordered if r[0].frontier <= frontier]
            later = [r for r in ordered if not r[0].frontier <= frontier]
            ordered = [*earlier, (checkpoint, frontier_from_key(row.previous)), *later]
        return ordered


def durable_prefix(ledger: Ledger, rows: list[Row]) -> tuple[Checkpoint, ...]:
    """The checkpoints up to which every earlier one is durable, too."""
    found: list[Checkpoint] = []
    reached = ledger.base.frontier
    for checkpoint, previous in rows:
        if not (previous <= reached or checkpoint.frontier <= reached):
            break
        found.append(checkpoint)
        reached = reached | checkpoint.frontier
    return tuple(found)
