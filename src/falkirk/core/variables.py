"""The variables of Figure 6 and what the neighbours of a processor see of them (§3.6)."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Restorable
from falkirk.core.errors import DefinitionError
from falkirk.core.graph import Graph
from falkirk.core.times import ProcessorId
from falkirk.core.trail import NO_EDGE, Blocked, Trail


class Uneven:
    """Stands where edges of one processor differ: inside nothing, so that each is looked at."""

    __slots__ = ()

    def __le__(self, other: object) -> bool:
        return False


UNEVEN = Uneven()


class Variables:
    """f(p) and f_n(p) of every processor, as arrays over numbered processors.

    With a ``trail`` it is also recorded what lowered whom, so that the monitor can raise again.
    """

    def __init__(
        self,
        graph: Graph,
        restorables: Mapping[ProcessorId, Restorable],
        trail: Trail | None = None,
    ) -> None:
        """All processors at their largest frontiers; nothing is checked yet."""
        self.topology = graph.topology
        self.names, self.edges = self.topology.names, self.topology.edges
        self.domains = list(graph.domains.values())
        self.whole = [domain.whole for domain in self.domains]
        self.restorables = [restorables[name] for name in self.names]
        self.trail = trail
        count = len(self.names)
        self.frontier: list[Any] = [None] * count
        self.notification: list[Any] = [None] * count
        self.position = [-1] * count
        # M̄, D̄ and f_n of each processor as its neighbours compare them: one value for all of its
        # edges, or UNEVEN. A comparison then reads nothing of the edge, and little memory.
        self._taken: list[Any] = [UNEVEN] * count
        self._sent: list[Any] = [UNEVEN] * count
        self._noted: list[Any] = [UNEVEN] * count
        # The frontiers that were last announced, by identity.
        self._told: list[Any] = [None] * count
        self._told_notification: list[Any] = [None] * count
        # How often each variable was lowered that is not bound to a chain, and by what at last.
        self._lowered = [0] * (2 * count)
        self._causes: list[tuple[Blocked, int] | None] = [None] * (2 * count)
        self._queue: deque[int] = deque()
        self._queued = bytearray(count)
        self._suspects: list[int] = []
        for p, restorable in enumerate(self.restorables):
            largest = self.largest(p)
            self._put_notification(p, largest)
            if isinstance(restorable, Chain):
                self._put_chain(p, restorable, len(restorable.frontiers) - 1)
            else:
                self._refuse_recorded(p)
                self._put_any(p, restorable, largest)

    def _refuse_recorded(self, p: int) -> None:
        for projection, _, _ in self.topology.groups[p]:
            if projection.recorded:
                raise DefinitionError(
                    f"{self.names[p]!r} restores to any frontier, so its projections cannot be"
                    " recorded"
                )

    def largest(self, p: int) -> Any:
        """max F*(p)."""
        restorable = self.restorables[p]
        if isinstance(restorable, Chain):
            return restorable.frontiers[-1]
        return restorable.complete if restorable.failed else self.domains[p].top

    def project(self, e: int, frontier: Any) -> Any:
        """φ(e) of any frontier of the source of e."""
        edge = self.edges[e]
        if not edge.projection.recorded:
            return edge.projection.phi(frontier)
        chain = self.restorables[self.topology.source[e]]
        assert isinstance(chain, Chain), "a recorded projection belongs to a chain of checkpoints"
        inside = chain.largest_inside(frontier)
        if inside < 0:
            return self.domains[self.topology.target[e]].edge_empty
        return chain.projected[edge.name][inside]

    def reached(self, d: int) -> Any:
        """What the target of ``d`` keeps of d."""
        q = self.topology.target[d]
        return self.domains[q].part(self.frontier[q], self.edges[d].name)

    # Assignments, with what the neighbours compare.

    def _put_chain(self, p: int, chain: Chain, i: int) -> None:
        self.position[p] = i
        self.frontier[p] = chain.frontiers[i]
        taken, sent = chain.processed_alike, chain.discarded_alike
        self._taken[p] = UNEVEN if taken is None else taken[i]
        self._sent[p] = UNEVEN if sent is None else sent[i]
        if not chain.steady:
            # A smaller checkpoint may have discarded more: its own constraints are due again.
            self._suspects.append(p)

    def _put_any(self, p: int, restorable: AnyFrontier, frontier: Any) -> None:
        self.frontier[p] = frontier
        if restorable.done(frontier) is not None:
            self._taken[p] = self._sent[p] = UNEVEN
            return
        if self.whole[p]:
            self._taken[p] = frontier
        groups = self.topology.groups[p]
        if len(groups) == 1 and not restorable.logs:
            self._sent[p] = groups[0][0].image(frontier)

    def _put_notification(self, p: int, notification: Any) -> None:
        self.notification[p] = notification
        if self.whole[p]:
            self._noted[p] = notification

    def _below_floor(self, chain: Chain, kind: Blocked, e: int) -> str:
        where = "" if e == NO_EDGE else f" on edge {self.edges[e].name!r}"
        return (
            f"{chain.processor!r} would have to roll back below {chain.frontiers[0]!r}, the oldest"
            f" state that is kept: the {kind.name.lower()} constraint fails{where}"
        )
