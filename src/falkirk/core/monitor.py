"""The monitor: low-watermarks from checkpoint metadata, kept up incrementally (§4.2).

It holds F*(p) as announced, and the fixed point of Figure 6 over it with no ⊤ anywhere: how far the
system would roll back if everything failed now. Storage is reliable, so nobody will ever go below
that. The monitor is deterministic and monotone: one that is restarted from the same announcements
agrees with one that was not, and several may run at once.

It stays incremental by a :class:`~falkirk.core.trail.Trail` of what lowered whom: a new checkpoint
undoes only what was concluded from its absence, and everyone else keeps the low-watermark and the
proof of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.constraints import Choice
from falkirk.core.errors import FalkirkError, InvariantError, RecoveryError
from falkirk.core.fixpoint import Fixpoint
from falkirk.core.graph import Graph
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.core.trail import NO_EDGE, Blocked, Fact, Trail


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

    def __init__(self, graph: Graph, given: Mapping[ProcessorId, Restorable]) -> None:
        """Who is not ``given`` saves checkpoints, and has none yet but ∅.

        Chains that are given are the monitor's from now on.
        """
        self.graph = graph
        self.restorables: dict[ProcessorId, Restorable] = {}
        for p, domain in graph.domains.items():
            known = given.get(p)
            if known is None:
                self.restorables[p] = Chain(graph, p, [Checkpoint(domain.empty)])
            elif isinstance(known, Chain):
                self.restorables[p] = known
            else:
                self.restorables[p] = AnyFrontier(
                    known.complete, failed=True, notifies=known.notifies, logs=known.logs
                )
        self._kept: Mapping[ProcessorId, Any] = {}
        self._settle_afresh()

    def _settle_afresh(self) -> None:
        self._more: dict[int, bool] = {}
        self._trail = Trail(self.graph.topology)
        self._fixpoint = Fixpoint(self.graph, self.restorables, self._trail)
        self._fixpoint.settle()

    def keep(self, frontiers: Mapping[ProcessorId, Any]) -> None:
        """From now on checkpoints from these frontiers on are not forgotten: somebody wants to be
        able to go back there, below low-watermarks."""
        self._kept = dict(frontiers)

    def watermark(self, p: ProcessorId) -> Any:
        """The frontier below which ``p`` will never roll back."""
        return self._fixpoint.frontier[self._fixpoint.topology.number[p]]

    def watermarks(self) -> Iterable[tuple[ProcessorId, Any]]:
        """Everybody's low-watermark."""
        return zip(self._fixpoint.names, self._fixpoint.frontier, strict=True)

    def choice(self) -> Choice:
        """The low-watermarks as a choice of frontiers, for the constraints to be checked on."""
        point = self._fixpoint
        return Choice(
            self.graph,
            self.restorables,
            dict(self.watermarks()),
            dict(zip(point.names, point.notification, strict=True)),
        )

    def so_far(self) -> Advance:
        """What the low-watermarks allow, as if all of them had just risen from ∅."""
        return self._advance({p: each.empty for p, each in enumerate(self._fixpoint.domains)})

    def note(self, updates: Iterable[Update]) -> None:
        """Takes announcements, and leaves what they allow to the next update.

        Meanwhile low-watermarks may be lower than they could be, which is safe.
        """
        for update in updates:
            self._take(update)

    def update(self, updates: Iterable[Update] = ()) -> Advance:
        """Takes one or many announcements and returns what they and those before allow."""
        try:
            self.note(updates)
        except FalkirkError:
            self._settle()  # what came before the one that is refused counts
            raise
        return self._settle()

    def _take(self, update: Update) -> None:
        """Adds to F*(p), and notes whether its chain is steady."""
        p = self._fixpoint.topology.number.get(update.processor)
        if p is None:
            raise InvariantError(f"{update.processor!r} is not a processor of this graph")
        restorable = self._fixpoint.restorables[p]
        if isinstance(update, Saved) and isinstance(restorable, Chain):
            restorable.append(update.checkpoint)
            self._more[p] = restorable.steady
        elif isinstance(update, Completed) and isinstance(restorable, AnyFrontier):
            restorable.complete = restorable.complete | update.frontier
            self._more[p] = True
        else:
            raise InvariantError(f"{update.processor!r} cannot announce {update!r}")

    def _settle(self) -> Advance:
        """Raises everyone who waited for what there is more of."""
        if not self._more:
            return Advance({}, {}, {})
        more, self._more = self._more, {}
        # In a chain that is not steady, what forbids one checkpoint may allow a larger one.
        first = [x for p, steady in more.items() for x in (2 * p, 2 * p + 1) if steady or x % 2]
        all_of = [2 * p for p, steady in more.items() if not steady]
        raised = self._trail.withdraw(first, all_of, self._stands)
        return self._raise(raised) if raised else Advance({}, {}, {})

    def _raise(self, raised: Mapping[int, Any]) -> Advance:
        """Raises variables to values that they do not exceed, and settles."""
        point = self._fixpoint
        affected = sorted({variable // 2 for variable in raised})
        before = {p: point.frontier[p] for p in affected}
        for variable, value in raised.items():
            p = variable // 2
            value = point.largest(p) if value is None else value
            if variable % 2:
                point.raise_notification(p, value)
            else:
                point.raise_frontier(p, value)
        point.resettle(affected)
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
        self._trail.shorten(point.topology.number[p], point.largest(point.topology.number[p]))

    def go_back(self, frontiers: Mapping[ProcessorId, Any]) -> None:
        """Forgets what lies outside ``frontiers``, also below low-watermarks, which then fall.

        Only a person asks for that, and only as far down as checkpoints were kept.
        """
        for p, frontier in frontiers.items():
            restorable = self.restorables[p]
            if isinstance(restorable, Chain):
                restorable.truncate(restorable.largest_inside(frontier) + 1)
            else:
                restorable.complete = restorable.complete & frontier
        self._settle_afresh()

    def rollback_plan(
        self,
        failed: Iterable[ProcessorId],
        live: Mapping[ProcessorId, Checkpoint],
        bounds: Mapping[ProcessorId, Any] | None = None,
    ) -> Solution:
        """Where to roll back to when ``failed`` have lost ⊤ (§4.4).

        ``live`` has Ξ(p, ⊤), what each processor has done so far, for those that are alive; one
        that is stateless may be left out, and then is taken to have done all that it could. Those
        with ``bounds`` keep no more than that. Nobody is moved by asking.
        """
        bounds = bounds or {}
        gone = {*failed, *bounds}
        offered: dict[ProcessorId, Restorable] = {}
        for p, restorable in self.restorables.items():
            if isinstance(restorable, AnyFrontier):
                done = None if p in gone else live.get(p)
                complete = restorable.complete & bounds[p] if p in bounds else restorable.complete
                offered[p] = AnyFrontier(
                    complete, p in gone, restorable.notifies, restorable.logs, done
                )
            elif p in bounds:
                offered[p] = restorable.within(bounds[p])
            elif p in gone:
                offered[p] = restorable
            elif p in live:
                offered[p] = restorable.extended(live[p])
            else:
                raise InvariantError(f"{p!r} has not failed, so say what it has done so far")
        return solve(self.graph, offered)

    def _stands(self, variable: int, fact: Fact) -> bool:
        """Whether ``fact`` would hold even if the variable that it waits for were at its largest.

        So those who wait for more than was saved now are left alone.
        """
        point, (_, kind, e, value, decisive, _) = self._fixpoint, fact
        if e == NO_EDGE or not decisive:
            return False
        p, name = variable // 2, point.edges[e].name
        if kind is Blocked.DISCARDED:
            q = point.topology.target[e]
            allowed = point.domains[q].part(point.largest(q), name)
        else:
            allowed = point.project(e, point.largest(point.topology.source[e]))
        restorable = point.restorables[p]
        if kind is not Blocked.NOTIFICATION_FRONTIER and isinstance(restorable, Chain):
            columns = restorable.discarded if kind is Blocked.DISCARDED else restorable.processed
            following = restorable.largest_inside(value) + 1
            return not columns[name][following] <= allowed
        if kind is Blocked.DISCARDED:
            allowed = point.edges[e].projection.adjoint(allowed)
        return bool(allowed <= value)

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
                    logs[point.edges[d].name] = point.reached(d)
                if not point.topology.inputs[p]:
                    acknowledge[name] = new
        return Advance(watermarks, logs, acknowledge)

    def _forget(self, p: int) -> None:
        """Drops checkpoints that nobody will ask for again."""
        point = self._fixpoint
        chain = point.restorables[p]
        if isinstance(chain, Chain):
            count = point.position[p]
            if point.names[p] in self._kept:
                count = min(count, max(0, chain.largest_inside(self._kept[point.names[p]])))
            if chain.projected:
                count = min(count, max(0, chain.largest_inside(point.notification[p])))
            if count:
                chain.forget(count)
                point.position[p] -= count
