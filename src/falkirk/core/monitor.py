"""The monitor: low-watermarks from checkpoint metadata, kept up incrementally (§4.2).

It holds F*(p) as announced, and the fixed point of Figure 6 over it with no ⊤ anywhere: how far the
system would roll back if everything failed now. Storage is reliable, so nobody will ever go below
that. The monitor is deterministic and monotone: one that is restarted from the same announcements
agrees with one that was not, and several may run at once.

How it stays incremental. For every processor the fixed point remembers which constraints ever
lowered it. A new checkpoint of p can raise p, and those whom p held back, and those whom they held
back: that closure goes back to its largest frontiers and is lowered again, while everyone outside
keeps the frontier and the proof of it. Those who wait for something that p still does not have are
left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.constraints import Choice
from falkirk.core.errors import InvariantError, RecoveryError
from falkirk.core.fixpoint import Blocked, Fixpoint
from falkirk.core.graph import Graph
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import EdgeId, ProcessorId


@dataclass(frozen=True, slots=True)
class Saved:
    """Ξ(p, f) and everything that it speaks of is durable."""

    processor: ProcessorId
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class Completed:
    """Everything inside ``frontier`` was delivered to a stateless processor."""

    processor: ProcessorId
    frontier: Any


Update = Saved | Completed


@dataclass(frozen=True, slots=True)
class Advance:
    """What an update lets the system forget or acknowledge.

    ``watermarks`` has each processor whose low-watermark rose, with its new value w. Then p may
    drop checkpoints strictly inside w; ``logs`` says up to what time the sender of each edge may
    drop logged messages; ``acknowledge`` says what each input may acknowledge to the outside
    (§4.3).
    """

    watermarks: Mapping[ProcessorId, Any]
    logs: Mapping[EdgeId, Any]
    acknowledge: Mapping[ProcessorId, Any]


class Monitor:
    """Low-watermarks of every processor of ``graph``.

    >>> from falkirk.core.domain import EPOCH
    >>> from falkirk.core.graph import Edge
    >>> from falkirk.core.projection import Identity
    >>> g = Graph({"p": EPOCH, "q": EPOCH}, [Edge("e", "p", "q", Identity(EPOCH, EPOCH))])
    >>> monitor = Monitor(g, {"p": AnyFrontier(EPOCH.empty)})
    >>> monitor.update([Completed("p", EPOCH.frontier([(3,)]))]).watermarks
    {}
    >>> advance = monitor.update([Saved("q", Checkpoint(EPOCH.frontier([(2,)])))])
    >>> advance.watermarks, advance.acknowledge
    ({'p': ↓(2), 'q': ↓(2)}, {'p': ↓(2)})
    """

    def __init__(self, graph: Graph, stateless: Mapping[ProcessorId, AnyFrontier]) -> None:
        """Everyone at ∅; processors that are not ``stateless`` save checkpoints."""
        self.graph = graph
        self.restorables: dict[ProcessorId, Restorable] = {}
        for p, domain in graph.domains.items():
            if p in stateless:
                given = stateless[p]
                self.restorables[p] = AnyFrontier(
                    given.complete, failed=True, notifies=given.notifies, logs=given.logs
                )
            else:
                self.restorables[p] = Chain(graph, p, [Checkpoint(domain.empty)])
        self._fixpoint = Fixpoint(graph, self.restorables)
        self._fixpoint.settle(range(len(self._fixpoint.names)))

    def watermark(self, p: ProcessorId) -> Any:
        """The frontier below which ``p`` will never roll back."""
        return self._fixpoint.frontier[self._fixpoint.topology.number[p]]

    def choice(self) -> Choice:
        """The low-watermarks as a choice of frontiers, for the constraints to be checked on."""
        point = self._fixpoint
        return Choice(
            self.graph,
            self.restorables,
            dict(zip(point.names, point.frontier, strict=True)),
            dict(zip(point.names, point.notification, strict=True)),
        )

    def update(self, updates: Iterable[Update]) -> Advance:
        """Takes one or many announcements and returns what they allow."""
        point = self._fixpoint
        raised: set[int] = set()
        for update in updates:
            p = point.topology.number[update.processor]
            restorable = point.restorables[p]
            if isinstance(update, Saved) and isinstance(restorable, Chain):
                restorable.append(update.checkpoint)
            elif isinstance(update, Completed) and isinstance(restorable, AnyFrontier):
                restorable.complete = restorable.complete | update.frontier
            else:
                raise InvariantError(f"{update.processor!r} cannot announce {update!r}")
            raised.add(p)
        affected = self._affected(raised)
        before = {p: point.frontier[p] for p in affected}
        for p in affected:
            point.raise_to_largest(p)
        point.settle(affected)
        return self._advance(before)

    def retract(self, p: ProcessorId, frontier: Any) -> None:
        """Forgets the checkpoints of ``p`` outside ``frontier``: F*'(p) after a rollback (§3.6).

        No low-watermark moves: a rollback never goes below one.
        """
        point = self._fixpoint
        restorable = point.restorables[point.topology.number[p]]
        if not self.watermark(p) <= frontier:
            raise RecoveryError(
                f"{p!r} cannot go back to {frontier!r}: state below its low-watermark"
                f" {self.watermark(p)!r} is gone"
            )
        if isinstance(restorable, Chain):
            restorable.truncate(restorable.largest_inside(frontier) + 1)
        else:
            restorable.complete = restorable.complete & frontier

    def rollback_plan(
        self, failed: Iterable[ProcessorId], live: Mapping[ProcessorId, Checkpoint]
    ) -> Solution:
        """Where to roll back to when ``failed`` have lost ⊤ (§4.4).

        ``live`` has Ξ(p, ⊤), what each processor has done so far, for those that are alive and keep
        state; nobody is moved by asking.
        """
        gone = set(failed)
        offered: dict[ProcessorId, Restorable] = {}
        extended: list[Chain] = []
        try:
            for p, restorable in self.restorables.items():
                offered[p] = restorable
                if isinstance(restorable, AnyFrontier):
                    offered[p] = AnyFrontier(
                        restorable.complete, p in gone, restorable.notifies, restorable.logs
                    )
                elif p not in gone:
                    restorable.append(live[p])
                    extended.append(restorable)
            solution = solve(self.graph, offered)
            solution.reasons  # noqa: B018  (worked out while ⊤ is still on offer)
            return solution
        finally:
            for chain in extended:
                chain.truncate(len(chain.frontiers) - 1)

    def _affected(self, raised: set[int]) -> list[int]:
        """``raised`` and everyone whom they may have held back, in a fixed order."""
        point = self._fixpoint
        affected, pending = set(raised), sorted(raised)
        while pending:
            q = pending.pop()
            largest = point.largest(q)
            for e in point.topology.outputs[q]:
                w = point.topology.target[e]
                if w not in affected and point.blockers[w] and self._frees(e, q, largest, w):
                    affected.add(w)
                    pending.append(w)
            for d in point.topology.inputs[q]:
                w = point.topology.source[d]
                if w not in affected and (Blocked.DISCARDED, d) in point.blockers[w]:
                    name = point.edges[d].name
                    reached = point.domains[q].part(largest, name)
                    if self._would_admit(Blocked.DISCARDED, d, w, reached):
                        affected.add(w)
                        pending.append(w)
        return sorted(affected)

    def _frees(self, e: int, q: int, largest: Any, w: int) -> bool:
        """Whether ``q`` at ``largest`` would no longer hold back its receiver ``w``."""
        point = self._fixpoint
        blockers = point.blockers[w]
        kinds = (Blocked.DELIVERED, Blocked.NOTIFIED, Blocked.NOTIFICATION_FRONTIER)
        if not any((kind, e) in blockers for kind in kinds):
            return False
        fixed = point.project(e, largest)
        return any((kind, e) in blockers and self._would_admit(kind, e, w, fixed) for kind in kinds)

    def _would_admit(self, kind: Blocked, e: int, w: int, allowed: Any) -> bool:
        """Whether ``w``, held back on edge ``e``, could rise there if it allowed ``allowed``."""
        point = self._fixpoint
        restorable, name = point.restorables[w], point.edges[e].name
        if kind is Blocked.NOTIFICATION_FRONTIER:
            return not allowed <= point.notified[e]
        if isinstance(restorable, Chain):
            above = range(point.position[w] + 1, len(restorable.frontiers))
            if kind is Blocked.NOTIFIED:
                part = point.domains[w].part
                return any(part(restorable.notified[i], name) <= allowed for i in above)
            columns = restorable.discarded if kind is Blocked.DISCARDED else restorable.processed
            return any(columns[name][i] <= allowed for i in above)
        if kind is Blocked.DISCARDED:
            return not point.edges[e].projection.adjoint(allowed) <= point.frontier[w]
        return not allowed <= point.domains[w].part(point.frontier[w], name)

    def _advance(self, before: Mapping[int, Any]) -> Advance:
        point = self._fixpoint
        watermarks, logs, acknowledge = {}, {}, {}
        for p, old in before.items():
            name, new = point.names[p], point.frontier[p]
            if not old <= new:
                raise InvariantError(f"the low-watermark of {name!r} fell from {old!r} to {new!r}")
            if old != new:
                watermarks[name] = new
                self._forget(p)
                for d in point.topology.inputs[p]:
                    logs[point.edges[d].name] = point.reached[d]
                if not point.topology.inputs[p]:
                    acknowledge[name] = new
        return Advance(watermarks, logs, acknowledge)

    def _forget(self, p: int) -> None:
        """Drops checkpoints that nobody will ask for again."""
        point = self._fixpoint
        chain = point.restorables[p]
        if isinstance(chain, Chain):
            count = point.position[p]
            if chain.projected:
                count = min(count, max(0, chain.largest_inside(point.notification[p])))
            if count:
                chain.forget(count)
                point.position[p] -= count
