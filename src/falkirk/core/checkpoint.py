"""What a processor can be rolled back to: checkpoint metadata Ξ and the frontiers F* (§3.4, Table
1).

A processor either has a :class:`Chain` of saved checkpoints or, being stateless, restores to
:class:`AnyFrontier`. Both answer in the columns that the solver reads: for each input edge M̄ and
for each output edge D̄ and, where recorded, φ.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.columns import Columns, append_row, share
from falkirk.core.errors import DefinitionError, RecoveryError
from falkirk.core.graph import Edge, Graph
from falkirk.core.times import EdgeId, ProcessorId


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Ξ(p, f): what recovery must know of a saved frontier (§4.2).

    What is left out takes the safe side of Table 1: N̄ and M̄ are f, D̄ is the image of f (φ where
    φ is recorded). ``projected`` gives φ(e)(f) for recorded edges.
    """

    frontier: Any
    notified: Any = None
    processed: Mapping[EdgeId, Any] = field(default_factory=dict)
    discarded: Mapping[EdgeId, Any] = field(default_factory=dict)
    projected: Mapping[EdgeId, Any] = field(default_factory=dict)


class Chain:
    """F*(p) of a processor that saves checkpoints: f₁ ⊂ f₂ ⊂ …, kept as columns.

    >>> from falkirk.core.domain import EPOCH
    >>> from falkirk.core.projection import Identity
    >>> g = Graph({"p": EPOCH, "q": EPOCH}, [Edge("e", "p", "q", Identity(EPOCH, EPOCH))])
    >>> chain = Chain(g, "p", [Checkpoint(EPOCH.empty), Checkpoint(EPOCH.frontier([(4,)]))])
    >>> chain.frontiers, chain.discarded["e"]
    ([∅, ↓(4)], [∅, ↓(4)])

    ``steady`` says that N̄, M̄ and D̄ grow with the frontier and N̄ lies within it, as they do unless
    a processor begins to log what it used to discard. Then a constraint that forbids one checkpoint
    forbids every larger one too. ``processed_alike`` and ``discarded_alike`` are the one column
    that all inputs or all outputs share, if they do.
    """

    __slots__ = (
        "_unsent",
        "discarded",
        "discarded_alike",
        "domain",
        "frontiers",
        "inputs",
        "notified",
        "outputs",
        "processed",
        "processed_alike",
        "processor",
        "projected",
        "steady",
    )

    def __init__(
        self, graph: Graph, processor: ProcessorId, checkpoints: Iterable[Checkpoint] = ()
    ) -> None:
        """The chain of ``checkpoints``, smallest first."""
        self.processor = processor
        self.domain = graph.domains[processor]
        self.inputs = graph.inputs(processor)
        self.outputs = graph.outputs(processor)
        self.steady = True
        self.frontiers: list[Any] = []
        self.notified: list[Any] = []
        self.processed: Columns = share(d.name for d in self.inputs)
        self.processed_alike: list[Any] | None = None
        self.discarded_alike: list[Any] | None = None
        self.discarded: Columns = share(e.name for e in self.outputs)
        self.projected: Columns = share(e.name for e in self.outputs if e.projection.recorded)
        self._unsent = {
            e.name: graph.domains[e.target].edge_empty
            for e in self.outputs
            if e.projection.recorded
        }
        for checkpoint in checkpoints:
            self.append(checkpoint)

    def append(self, checkpoint: Checkpoint) -> None:
        """Adds the next, strictly larger checkpoint."""
        frontier = checkpoint.frontier
        self._refuse(checkpoint)
        projected = {edge: self._projection(edge, checkpoint) for edge in self.projected}
        discarded = checkpoint.discarded
        if len(discarded) < len(self.outputs):
            discarded = {
                edge.name: self._discarded(edge, checkpoint, projected) for edge in self.outputs
            }
        notified = frontier if checkpoint.notified is None else checkpoint.notified
        processed = self._processed(checkpoint)
        if self.steady:
            self.steady = notified <= frontier and self._grows(notified, processed, discarded)
        self.frontiers.append(frontier)
        self.notified.append(notified)
        self.processed_alike = append_row(self.processed, processed)
        self.discarded_alike = append_row(self.discarded, discarded)
        append_row(self.projected, projected)

    def _processed(self, checkpoint: Checkpoint) -> Mapping[EdgeId, Any]:
        frontier, given = checkpoint.frontier, checkpoint.processed
        if len(given) == len(self.inputs):
            return given
        if self.domain.whole:
            return {**dict.fromkeys(self.processed, frontier), **given}
        part = self.domain.part
        return {d: given[d] if d in given else part(frontier, d) for d in self.processed}

    def _grows(
        self, notified: Any, processed: Mapping[EdgeId, Any], discarded: Mapping[EdgeId, Any]
    ) -> bool:
        return not self.frontiers or (
            self.notified[-1] <= notified
            and all(self.processed[d][-1] <= taken for d, taken in processed.items())
            and all(self.discarded[e][-1] <= sent for e, sent in discarded.items())
        )

    def _projection(self, edge: EdgeId, checkpoint: Checkpoint) -> Any:
        fixed = checkpoint.projected.get(edge)
        if fixed is None:
            if not checkpoint.frontier.is_empty:
                raise DefinitionError(
                    f"the checkpoint {checkpoint.frontier!r} of {self.processor!r} does not record"
                    f" the projection of edge {edge!r}"
                )
            fixed = self._unsent[edge]
        self._refuse_projection(edge, checkpoint.frontier, fixed)
        return fixed

    def _refuse(self, checkpoint: Checkpoint) -> None:
        frontier = checkpoint.frontier
        if self.frontiers and not (self.frontiers[-1] <= frontier != self.frontiers[-1]):
            raise DefinitionError(
                f"checkpoints of {self.processor!r} form a chain: {frontier!r} is not strictly"
                f" larger than {self.frontiers[-1]!r}"
            )

    def _refuse_projection(self, edge: EdgeId, frontier: Any, fixed: Any) -> None:
        recorded = self.projected[edge]
        if recorded and not recorded[-1] <= fixed:
            raise DefinitionError(
                f"the projection of edge {edge!r} shrinks from {recorded[-1]!r} to {fixed!r}:"
                " it must be monotone (§3.2)"
            )

    def _discarded(self, edge: Edge, checkpoint: Checkpoint, projected: dict[EdgeId, Any]) -> Any:
        if edge.name in checkpoint.discarded:
            return checkpoint.discarded[edge.name]
        if edge.name in projected:
            return projected[edge.name]
        return edge.projection.image(checkpoint.frontier)

    def within(self, frontier: Any) -> "Chain":
        """A chain of its own with the checkpoints inside ``frontier``; this one stays as it is."""
        kept = self.largest_inside(frontier) + 1
        if not kept:
            raise RecoveryError(
                f"{self.processor!r} cannot go back to {frontier!r}: {self.frontiers[0]!r} is the"
                " oldest state that is kept"
            )
        twin = self._copy()
        twin.truncate(kept)
        return twin

    def extended(self, checkpoint: Checkpoint) -> "Chain":
        """A chain of its own with one checkpoint more; this one stays as it is."""
        twin = self._copy()
        twin.append(checkpoint)
        return twin

    def _copy(self) -> "Chain":
        twin = Chain.__new__(Chain)
        twin.processor, twin.domain, twin.steady = self.processor, self.domain, self.steady
        twin.inputs, twin.outputs, twin._unsent = self.inputs, self.outputs, self._unsent
        copies = {id(column): column[:] for column in self._columns()}
        twin.frontiers, twin.notified = copies[id(self.frontiers)], copies[id(self.notified)]
        twin.processed = {edge: copies[id(c)] for edge, c in self.processed.items()}
        twin.discarded = {edge: copies[id(c)] for edge, c in self.discarded.items()}
        twin.projected = {edge: copies[id(c)] for edge, c in self.projected.items()}
        twin.processed_alike = copies.get(id(self.processed_alike))
        twin.discarded_alike = copies.get(id(self.discarded_alike))
        return twin

    def largest_inside(self, frontier: Any) -> int:
        """The position of the largest checkpoint within ``frontier``, or -1."""
        return bisect_right(self.frontiers, False, key=lambda listed: not listed <= frontier) - 1

    def truncate(self, kept: int) -> None:
        """Forgets all but the ``kept`` smallest checkpoints: F*'(p) after a rollback (§3.6)."""
        for column in self._columns():
            del column[kept:]

    def forget(self, count: int) -> None:
        """Forgets the ``count`` smallest checkpoints: they lie below the low-watermark (§4.2)."""
        for column in self._columns():
            del column[:count]

    def _columns(self) -> list[list[Any]]:
        by_edge = (self.processed, self.discarded, self.projected)
        shared = {id(column): column for columns in by_edge for column in columns.values()}
        return [self.frontiers, self.notified, *shared.values()]


@dataclass(slots=True)
class AnyFrontier:
    """F*(p) of a stateless processor: every frontier inside ``complete``, and ⊤ while it lives
    (§3.4).

    ``complete`` is what was fully delivered, so that no message inside awaits delivery. M̄ is f; N̄
    is f if it ``notifies``; D̄ is the image of f, or ∅ on the edges that it ``logs``. ``live`` is
    Ξ(p, ⊤), what a processor that is alive has really done; without it those hold of ⊤ as well.
    """

    complete: Any
    failed: bool = False
    notifies: bool = True
    logs: frozenset[EdgeId] = frozenset()
    live: Checkpoint | None = None

    def done(self, frontier: Any) -> Checkpoint | None:
        """What has really been done at ``frontier``, if that is ⊤ and it is known."""
        return self.live if self.live is not None and frontier.is_top else None


Restorable = Chain | AnyFrontier
