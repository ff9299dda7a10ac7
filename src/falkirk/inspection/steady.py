"""A flow in full swing, without running it: who goes back, and how far, when somebody fails.

Everybody has saved what its policy saves, and works on the epoch after the last complete one. The
moment is the worst: just before those that save every k-th epoch would save again. Messages of the
open epoch have gone as far as they can, which is up to the next eager processor.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.domain import Structured
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.graph import Edge
from falkirk.core.machine.boundary import boundary, whole_epochs
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.ledger import count_frontier
from falkirk.core.projection import Feedback
from falkirk.core.rollback import solve
from falkirk.core.times import EdgeId, ProcessorId

INTERVAL_MAX = 1000
"""Intervals whose common multiple is larger are looked at one such stretch only."""


@dataclass(frozen=True, slots=True)
class Setback:
    """That ``processor`` does so many epochs again; the open one counts, too."""

    processor: str
    epochs: int


class Steady:
    """The steady state of ``flow``; edges in ``unlogged`` are taken not to be logged."""

    def __init__(self, flow: Flow, unlogged: Collection[EdgeId] = ()) -> None:
        """Lays out checkpoints and what was done since."""
        self.flow, self.graph, self.unlogged = flow, flow.graph, unlogged
        self.interval = min(lcm(*map(self.every, flow.processors)), INTERVAL_MAX)
        self.complete = 2 * self.interval - 2 if self.interval > 1 else 2
        self.reach = self._reaches()

    def every(self, p: ProcessorId) -> int:
        """How many epochs lie between two checkpoints; who goes by the clock follows the others."""
        policy = self.flow.processors[p].policy
        return 1 if policy.clocked else policy.every

    def logs(self, p: ProcessorId, edge: EdgeId) -> bool:
        """Whether what goes out on ``edge`` can be sent again from a log."""
        return edge not in self.unlogged and self.flow.processors[p].policy.logs(edge)

    def setbacks(self, failed: Collection[ProcessorId]) -> list[Setback]:
        """Who does how much again when ``failed`` fail."""
        solution = solve(
            self.flow.recovery, {p: self.offered(p, p in failed) for p in self.flow.processors}
        )
        found = []
        for p, frontier in solution.frontiers.items():
            if not frontier.is_top:
                lost = self.reach[p] - self.epoch(frontier)
                if lost > 0:
                    found.append(Setback(p, lost))
        return found

    @cached_property
    def watermarks(self) -> Mapping[ProcessorId, Any]:
        """How far everybody goes back if everything fails."""
        offered = {p: self.offered(p, True) for p in self.flow.processors}
        return solve(self.flow.recovery, offered).frontiers

    def lag(self, p: ProcessorId) -> int | None:
        """How many complete epochs lie above the low-watermark; None if it never moves."""
        frontier = self.watermarks[p]
        return None if frontier.is_empty else self.complete - self.epoch(frontier)

    def epoch(self, frontier: Any) -> int:
        """The last epoch in a frontier; one message stands for an epoch where they are numbered."""
        if isinstance(frontier, SequenceFrontier):
            return int(min((count for _, count in frontier.counts), default=0)) - 1
        return int(whole_epochs(frontier))

    def upto(self, p: ProcessorId, epoch: int) -> Any:
        """The frontier of ``p`` after ``epoch``."""
        domain = self.graph.domains[p]
        if epoch < 0:
            return domain.empty
        if isinstance(domain, Structured):
            return boundary(domain, epoch)
        return SequenceFrontier({edge.name: epoch + 1 for edge in self.graph.inputs(p)})

    def offered(self, p: ProcessorId, failed: bool) -> Restorable:
        """What ``p`` can be restored to."""
        if self.stateless(p):
            live = None if failed else self.metadata(p, None)
            return AnyFrontier(self.upto(p, self.complete), failed, live=live)
        every = self.every(p)
        saved = range(every - 1, self.complete + 1, every)
        checkpoints = [Checkpoint(self.graph.domains[p].empty)]
        checkpoints += [self.metadata(p, epoch) for epoch in saved]
        if not failed:
            checkpoints.append(self.metadata(p, None))
        return Chain(self.flow.recovery, p, checkpoints)

    def stateless(self, p: ProcessorId) -> bool:
        """Whether ``p`` needs no checkpoint at all, without the logs that are left out."""
        if self.flow.restores_anywhere(p):
            return True
        edges = self.graph.outputs(p)
        return (
            bool(self.graph.inputs(p) and edges)
            and self.flow.processors[p].policy.stateless
            and all(edge.name in self.unlogged for edge in edges)
            and not any(edge.projection.recorded for edge in edges)
        )

    def metadata(self, p: ProcessorId, epoch: int | None) -> Checkpoint:
        """Ξ(p, f) after ``epoch``; None is ⊤, with what was done of the open epoch."""
        domain, done = self.graph.domains[p], self.reach[p] if epoch is None else epoch
        tainted = self.flow.processors[p].policy.tainted
        told = self.complete if epoch is None else epoch
        processed = {}
        for edge in self.graph.inputs(p):
            taken = min(done, self.sent(edge)) if epoch is None else done
            part = domain.part(self.upto(p, taken), edge.name)
            processed[edge.name] = domain.edge_empty if tainted else part
        outputs = self.graph.outputs(p)
        return Checkpoint(
            domain.top if epoch is None else self.upto(p, epoch),
            domain.empty if tainted or not domain.whole else self.upto(p, told),
            processed,
            {edge.name: self.discarded(edge, epoch) for edge in outputs},
            {
                edge.name: self.target_top(edge) if epoch is None else self.fixed(edge, epoch)
                for edge in outputs
                if edge.projection.recorded
            },
        )

    def sent(self, edge: Edge) -> int:
        """The last epoch of which messages were let go on ``edge``."""
        holds = self.flow.processors[edge.source].policy.holds
        return min(self.complete, self.reach[edge.source]) if holds else self.reach[edge.source]

    def discarded(self, edge: Edge, epoch: int | None) -> Any:
        """D̄(e, f) after ``epoch``, or of all that was let go."""
        if self.logs(edge.source, edge.name):
            return self.graph.domains[edge.target].edge_empty
        last = self.sent(edge) if epoch is None else epoch
        if edge.projection.recorded:
            return self.fixed(edge, last)
        return edge.projection.image(self.upto(edge.source, last))

    def fixed(self, edge: Edge, epoch: int) -> Any:
        """φ of a recorded edge: one message, or one window, for each epoch."""
        target = self.graph.domains[edge.target]
        if isinstance(target, Structured):
            return self.upto(edge.target, epoch)
        return count_frontier(epoch + 1)

    def target_top(self, edge: Edge) -> Any:
        """⊤ as the receiver sees it on ``edge``."""
        return self.graph.domains[edge.target].edge_top

    def _reaches(self) -> dict[ProcessorId, int]:
        """The last epoch that each processor has worked on."""
        found = dict.fromkeys(self.flow.processors, self.complete + 1)
        for _ in self.flow.processors:
            self.reach = found
            found = {
                p: max(
                    (self.sent(d) for d in inputs if not isinstance(d.projection, Feedback)),
                    default=self.complete + 1,
                )
                for p in self.flow.processors
                for inputs in [self.graph.inputs(p)]
            }
        return found
