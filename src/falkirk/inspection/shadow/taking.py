"""What a fork takes out of one look at the live store: a filter by its frontiers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.machine.boundary import boundary
from falkirk.core.machine.ledger import Base, Ledger, Record
from falkirk.core.times import ProcessorId
from falkirk.inspection.shadow.linking import CollectedError
from falkirk.inspection.shadow.planning import AGAIN, Fork
from falkirk.store import tables
from falkirk.store.codec import frontier_key
from falkirk.store.contents import reference_of
from falkirk.store.reference import Reference
from falkirk.store.several import in_pieces
from falkirk.store.store import SqlStore


@dataclass(frozen=True, slots=True)
class Held:
    """A durable batch as the store writes it."""

    reference: Reference
    label: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What the fork takes of one processor."""

    processor: ProcessorId
    incarnation: int
    base: Base | None
    records: tuple[Record, ...]
    checkpoints: tuple[tuple[Checkpoint, Any, str | None], ...]


class Taking:
    """Takes what a fork keeps out of one look at the live store."""

    def __init__(self, fork: Fork, live: SqlStore) -> None:
        """Reads which batches there are, and what opaque processors captured."""
        self.fork, self.look = fork, fork.look
        self.references: dict[str, Reference] = {}
        batches, checkpoints = tables.batches, tables.checkpoints
        wanted = sorted({use.batch for use in self.look.uses})
        with live.database.reading() as connection:
            self.known = {
                row.name: Reference(*row)
                for piece in in_pieces(wanted)
                for row in connection.execute(select(batches).where(batches.c.name.in_(piece)))
            }
            columns = (checkpoints.c.processor, checkpoints.c.frontier)
            self.rows = {
                (row.processor, row.frontier): row
                for row in connection.execute(
                    select(*columns, checkpoints.c.previous, checkpoints.c.captured)
                )
            }

    def piece(self, p: ProcessorId) -> Piece:
        """What is taken of ``p``."""
        start = self.fork.starts.get(p)
        if start is not None and start.how == AGAIN:
            return self.again(p, start.joined)
        if self.fork.frontier(p).is_empty:
            return Piece(p, 0, None, (), ())
        if p in self.fork.blueprint.sinks:
            return self.shown(p)
        if not self.fork.keeps(p):
            return Piece(p, 0, None, (), ())
        stored, frontier = self.look.stored[p], self.fork.frontier(p)
        kept = [c for c in stored.checkpoints if c.frontier <= frontier]
        base = stored.ledger.base
        return Piece(
            p,
            stored.incarnation,
            None if base.frontier.is_empty else self.base(p, base),
            tuple(self.record(p, record) for record in stored.ledger.inside(frontier)),
            tuple((self.checkpoint(p, c), *self.row(p, c)) for c in kept),
        )

    def again(self, p: ProcessorId, joined: int | None) -> Piece:
        """An input that is read from the start: nothing was sent, and it is about to do ``joined``.

        The epochs before are over without a row, for nobody knows where they ended.
        """
        if not joined:
            return Piece(p, 0, None, (), ())
        graph = self.fork.blueprint.flow.graph
        domain: Any = graph.domains[p]
        frontier = boundary(domain, joined - 1)
        base = Ledger.of(graph, p).base
        source: Any = self.fork.blueprint.nodes[p].operator
        base.frontier = base.notified = frontier
        base.state = [((joined - 1,), source.initial())]
        nothing = dict(base.discarded)
        recorded = {e.name: nothing[e.name] for e in graph.outputs(p) if e.projection.recorded}
        first = Checkpoint(frontier, frontier, {}, nothing, recorded)
        return Piece(p, 0, base, (), ((first, domain.empty, None),))

    def shown(self, p: ProcessorId) -> Piece:
        """An output that goes on after its frontier: what lies inside is the live flow's."""
        graph, frontier = self.fork.blueprint.flow.graph, self.fork.frontier(p)
        domain = graph.domains[p]
        base = Ledger.of(graph, p).base
        base.frontier = frontier
        base.notified = frontier if domain.whole else domain.empty
        base.processed = {d.name: domain.part(frontier, d.name) for d in graph.inputs(p)}
        first = Checkpoint(frontier, base.notified, base.processed)
        return Piece(p, 0, base, (), ((first, domain.empty, None),))

    def row(self, p: ProcessorId, checkpoint: Checkpoint) -> tuple[Any, str | None]:
        """The key of the checkpoint before, and what was captured."""
        found = self.rows.get((p, frontier_key(checkpoint.frontier)))
        if found is None:
            raise CollectedError(f"the checkpoint {checkpoint.frontier!r} of {p!r} is gone by now")
        return found.previous, found.captured

    def edges(self, p: ProcessorId, given: Mapping[Any, Any]) -> dict[Any, Any]:
        """Only what is said of edges that the changed flow has."""
        graph = self.fork.blueprint.flow.graph
        there = {edge.name for edge in (*graph.inputs(p), *graph.outputs(p))}
        return {edge: value for edge, value in given.items() if edge in there}

    def checkpoint(self, p: ProcessorId, saved: Checkpoint) -> Checkpoint:
        """Ξ(p, f) without the edges that are gone."""
        return replace(
            saved,
            discarded=self.edges(p, saved.discarded),
            projected=self.edges(p, saved.projected),
        )

    def base(self, p: ProcessorId, base: Base) -> Base:
        """What is folded, likewise."""
        return replace(
            base,
            discarded=self.edges(p, base.discarded),
            state=[(time, self.batch(batch)) for time, batch in base.state],
            closed=self.edges(p, base.closed),
        )

    def record(self, p: ProcessorId, record: Record) -> Record:
        """A record, likewise."""
        there = self.fork.blueprint.flow.graph.edges
        return replace(
            record,
            delivered=[
                replace(
                    past,
                    batch=self.batch(past.batch),
                    sent=tuple(sent for sent in past.sent if sent.edge in there),
                )
                for past in record.delivered
            ],
            state=[self.batch(batch) for batch in record.state],
            sent=[replace(m, batch=self.batch(m.batch)) for m in record.sent if m.edge in there],
            discarded=self.edges(p, record.discarded),
            first=self.edges(p, record.first),
            closed=self.edges(p, record.closed),
        )

    def batch(self, written: Any) -> Any:
        """A batch out of the way in which it is stored."""
        if "json" in written:
            return written["json"]
        name = written["name"]
        if name not in self.known:
            raise CollectedError(f"the batch {name} is gone by now")
        self.references[name] = self.known[name]
        return Held(reference_of(written, self.known[name]), written["label"])
