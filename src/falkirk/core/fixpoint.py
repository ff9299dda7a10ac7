"""The fixed point of Figure 6, lowered along a worklist (§3.6).

Every variable starts at the largest frontier that it could have and is only ever lowered: f(p), the
frontier to roll back to, and f_n(p), the notification frontier. What a neighbour must know of a
processor is kept per edge, so that a constraint is one comparison:

=======================  ===============================  =================
constraint               holds when                       belongs to
=======================  ===============================  =================
discarded messages       ``discarded[e] <= reached[e]``   the source of e
delivered messages       ``processed[e] <= fixed[e]``     the target of e
processed notifications  N̄ on e ``<= notified[e]``        the target of e
notification frontiers   f_n on e ``<= notified[e]``      the target of e
=======================  ===============================  =================

A processor is visited again only when one of its constraints broke, so the work is proportional to
what changes times the degree of what changes.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Restorable
from falkirk.core.errors import DefinitionError, RecoveryError
from falkirk.core.graph import Graph
from falkirk.core.times import ProcessorId


class Blocked(IntEnum):
    """Which constraint stopped a processor on an edge."""

    DISCARDED = 0
    DELIVERED = 1
    NOTIFIED = 2
    NOTIFICATION_FRONTIER = 3


NO_EDGE = -1
Blocker = tuple[Blocked, int]
"""A constraint and the number of the edge on which it failed, or ``NO_EDGE``."""


class Fixpoint:
    """The variables of Figure 6 for one graph, as arrays over numbered processors and edges."""

    def __init__(self, graph: Graph, restorables: Mapping[ProcessorId, Restorable]) -> None:
        """All processors at their largest frontiers; nothing is checked yet."""
        self.topology = graph.topology
        self.names, self.edges = self.topology.names, self.topology.edges
        self.domains = list(graph.domains.values())
        self.whole = [domain.whole for domain in self.domains]
        self.restorables = [restorables[name] for name in self.names]
        self.frontier: list[Any] = [None] * len(self.names)
        self.notification: list[Any] = [None] * len(self.names)
        self.position = [-1] * len(self.names)
        self.blockers: list[set[Blocker]] = [set() for _ in self.names]
        self.fixed: list[Any] = [None] * len(self.edges)
        self.notified: list[Any] = [None] * len(self.edges)
        self.reached: list[Any] = [None] * len(self.edges)
        self.processed: list[Any] = [None] * len(self.edges)
        self.discarded: list[Any] = [None] * len(self.edges)
        self._recorded: dict[int, list[Any]] = {}
        self._columns = [self._columns_of(p) for p in range(len(self.names))]
        for p in range(len(self.names)):
            self.raise_to_largest(p)

    def _columns_of(self, p: int) -> tuple[list[list[Any]], list[list[Any]]]:
        """The columns of p's chain in the order of its outputs and of its inputs."""
        restorable, outputs = self.restorables[p], self.topology.outputs[p]
        if isinstance(restorable, Chain):
            for e in outputs if restorable.projected else ():
                if self.edges[e].projection.recorded:
                    self._recorded[e] = restorable.projected[self.edges[e].name]
            return list(restorable.discarded.values()), list(restorable.processed.values())
        if any(projection.recorded for projection, _ in self.topology.groups[p]):
            raise DefinitionError(
                f"{self.names[p]!r} restores to any frontier, so its projections cannot be recorded"
            )
        return [], []

    def largest(self, p: int) -> Any:
        """max F*(p)."""
        restorable = self.restorables[p]
        if isinstance(restorable, Chain):
            return restorable.frontiers[-1]
        return restorable.complete if restorable.failed else self.domains[p].top

    def raise_to_largest(self, p: int) -> None:
        """Puts ``p`` back at its largest frontier and forgets what had lowered it."""
        restorable = self.restorables[p]
        if isinstance(restorable, Chain):
            self.position[p] = len(restorable.frontiers) - 1
        self.frontier[p] = self.notification[p] = self.largest(p)
        self.blockers[p].clear()
        self._publish(p)
        self._publish_notification(p)

    def settle(self, dirty: Iterable[int]) -> None:
        """Lowers until every constraint holds; only those in ``dirty`` may be violated at first."""
        queue = deque(dirty)
        queued = bytearray(len(self.names))
        for p in queue:
            queued[p] = 1
        while queue:
            p = queue.popleft()
            queued[p] = 0
            frontier, notification = self.frontier[p], self.notification[p]
            restorable = self.restorables[p]
            if isinstance(restorable, Chain):
                self._lower_chain(p, restorable)
            else:
                self._lower_any(p, restorable)
            self._lower_notification(p)
            broken: list[int] = []
            if self.frontier[p] != frontier:
                self._publish(p)
                broken += self._broken_neighbours(p)
            if self.notification[p] != notification:
                self._publish_notification(p)
                broken += self._broken_notifications(p)
            for q in broken:
                if not queued[q]:
                    queued[q] = 1
                    queue.append(q)

    # What p may keep, given its neighbours.

    def _lower_chain(self, p: int, chain: Chain) -> None:
        i = self.position[p]
        while (blocker := self._blocker(p, chain, i)) is not None:
            self.blockers[p].add(blocker)
            i -= 1
            if i < 0:
                raise RecoveryError(self._below_floor(chain, blocker))
        self.position[p] = i
        self.frontier[p] = chain.frontiers[i]

    def _blocker(self, p: int, chain: Chain, i: int) -> Blocker | None:
        """The first constraint that forbids ``p`` its ``i``-th checkpoint, if any does."""
        discarded, processed = self._columns[p]
        inputs, reached = self.topology.inputs[p], self.reached
        for e, column in zip(self.topology.outputs[p], discarded, strict=True):
            if not column[i] <= reached[e]:
                return Blocked.DISCARDED, e
        fixed, notified, noted = self.fixed, self.notified, chain.notified[i]
        for d, column in zip(inputs, processed, strict=True):
            if not column[i] <= fixed[d]:
                return Blocked.DELIVERED, d
        if not noted <= chain.frontiers[i]:
            return Blocked.NOTIFIED, NO_EDGE
        if self.whole[p]:
            for d in inputs:
                if not noted <= notified[d]:
                    return Blocked.NOTIFIED, d
            return None
        for d in inputs:
            if not noted.on(self.edges[d].name) <= notified[d]:
                return Blocked.NOTIFIED, d
        return None

    def _below_floor(self, chain: Chain, blocker: Blocker) -> str:
        kind, edge = blocker
        where = "" if edge == NO_EDGE else f" on edge {self.edges[edge].name!r}"
        return (
            f"{chain.processor!r} would have to roll back below {chain.frontiers[0]!r}, the oldest"
            f" state that is kept: the {kind.name.lower()} constraint fails{where}"
        )

    def _lower_any(self, p: int, restorable: AnyFrontier) -> None:
        broken = self._broken_of_any(p, restorable)
        if not broken:
            return
        self.blockers[p].update(broken)
        frontier, domain = self.frontier[p], self.domains[p]
        if frontier.is_top:
            frontier = restorable.complete & frontier
        for kind, e in broken:
            if kind is Blocked.DISCARDED:
                frontier = frontier & self.edges[e].projection.adjoint(self.reached[e])
            else:
                bound = self.fixed[e] if kind is Blocked.DELIVERED else self.notified[e]
                frontier = domain.limited(frontier, self.edges[e].name, bound)
        self.frontier[p] = frontier

    def _broken_of_any(self, p: int, restorable: AnyFrontier) -> list[Blocker]:
        """Every constraint that a stateless processor violates with what it has."""
        discarded, reached, processed, fixed = (
            self.discarded,
            self.reached,
            self.processed,
            self.fixed,
        )
        outputs, inputs = self.topology.outputs[p], self.topology.inputs[p]
        broken: list[Blocker] = [
            (Blocked.DISCARDED, e) for e in outputs if not discarded[e] <= reached[e]
        ]
        broken += [(Blocked.DELIVERED, d) for d in inputs if not processed[d] <= fixed[d]]
        if restorable.notifies and self.whole[p]:
            frontier, notified = self.frontier[p], self.notified
            broken += [(Blocked.NOTIFIED, d) for d in inputs if not frontier <= notified[d]]
        return broken

    def _lower_notification(self, p: int) -> None:
        bound, notified = self.notification[p] & self.frontier[p], self.notified
        if self.whole[p]:
            for d in self.topology.inputs[p]:
                if not bound <= notified[d]:
                    bound = bound & notified[d]
                    self.blockers[p].add((Blocked.NOTIFICATION_FRONTIER, d))
        else:
            for d in self.topology.inputs[p]:
                name = self.edges[d].name
                if not bound.on(name) <= notified[d]:
                    bound = bound.limited(name, notified[d])
                    self.blockers[p].add((Blocked.NOTIFICATION_FRONTIER, d))
        self.notification[p] = bound

    # What the neighbours of p see of it.

    def _publish(self, p: int) -> None:
        restorable, frontier, i = self.restorables[p], self.frontier[p], self.position[p]
        outputs, inputs = self.topology.outputs[p], self.topology.inputs[p]
        fixed, reached, processed = self.fixed, self.reached, self.processed
        for projection, edges in self.topology.groups[p]:
            if projection.recorded:
                for e in edges:
                    fixed[e] = self._recorded[e][i]
            else:
                value = projection.phi(frontier)
                for e in edges:
                    fixed[e] = value
        if self.whole[p]:
            for d in inputs:
                reached[d] = frontier
        else:
            for d in inputs:
                reached[d] = frontier.on(self.edges[d].name)
        if isinstance(restorable, Chain):
            discarded_columns, processed_columns = self._columns[p]
            discarded = self.discarded
            for e, column in zip(outputs, discarded_columns, strict=True):
                discarded[e] = column[i]
            for d, column in zip(inputs, processed_columns, strict=True):
                processed[d] = column[i]
        else:
            for d in inputs:
                processed[d] = reached[d]
            self._publish_sent(p, restorable, frontier)

    def _publish_sent(self, p: int, restorable: AnyFrontier, frontier: Any) -> None:
        for projection, edges in self.topology.groups[p]:
            sent = projection.image(frontier)
            for e in edges:
                if self.edges[e].name in restorable.logs:
                    self.discarded[e] = self.domains[self.topology.target[e]].edge_empty
                else:
                    self.discarded[e] = sent

    def _publish_notification(self, p: int) -> None:
        notification, notified = self.notification[p], self.notified
        if notification is self.frontier[p]:
            for e in self.topology.outputs[p]:
                notified[e] = self.fixed[e]
            return
        for projection, edges in self.topology.groups[p]:
            value = None if projection.recorded else projection.phi(notification)
            for e in edges:
                notified[e] = self.project(e, notification) if value is None else value

    def project(self, e: int, frontier: Any) -> Any:
        """φ(e) of any frontier of the source of e."""
        column = self._recorded.get(e)
        if column is None:
            return self.edges[e].projection.phi(frontier)
        chain = self.restorables[self.topology.source[e]]
        assert isinstance(chain, Chain), "a recorded projection belongs to a chain of checkpoints"
        inside = chain.largest_inside(frontier)
        return column[inside] if inside >= 0 else self.domains[self.topology.target[e]].edge_empty

    def _broken_neighbours(self, p: int) -> list[int]:
        """Those whom the new frontier of ``p`` forbids what they have."""
        topology = self.topology
        processed, fixed, target = self.processed, self.fixed, topology.target
        broken = [target[e] for e in topology.outputs[p] if not processed[e] <= fixed[e]]
        discarded, reached, source = self.discarded, self.reached, topology.source
        broken += [source[d] for d in topology.inputs[p] if not discarded[d] <= reached[d]]
        return broken

    def _broken_notifications(self, p: int) -> list[int]:
        """Those whom the new notification frontier of ``p`` forbids what they have."""
        broken = []
        for e in self.topology.outputs[p]:
            q = self.topology.target[e]
            bound = self.notification[q]
            if not (bound if self.whole[q] else bound.on(self.edges[e].name)) <= self.notified[e]:
                broken.append(q)
        return broken
