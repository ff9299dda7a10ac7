"""Choosing consistent frontiers for rollback (§3.6, Figure 6), with the reasons."""

from collections import ChainMap as Overlay
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from falkirk.core.checkpoint import Chain, Restorable
from falkirk.core.choosing import choose
from falkirk.core.constraints import (
    Choice,
    Violation,
    delivered_messages,
    discarded_messages,
    largest,
)
from falkirk.core.extension import extensions
from falkirk.core.family import Family, FamilyChoice
from falkirk.core.fixpoint import Fixpoint
from falkirk.core.graph import Graph
from falkirk.core.times import ProcessorId


@dataclass(frozen=True)
class Solution:
    """The largest consistent choice of frontiers, or a maximal one where there is no largest.

    ``choice.frontiers`` are the frontiers to roll back to, ``choice.notifications`` the auxiliary
    notification frontiers, which only constrain them. ``maximum`` says that the choice contains
    every other consistent one; without it no consistent choice strictly contains this one.
    """

    choice: Choice
    maximum: bool = True

    @property
    def frontiers(self) -> Mapping[ProcessorId, Any]:
        """f(p) for every processor."""
        return self.choice.frontiers

    @property
    def notifications(self) -> Mapping[ProcessorId, Any]:
        """f_n(p) for every processor."""
        return self.choice.notifications

    @cached_property
    def reasons(self) -> dict[ProcessorId, list[Violation]]:
        """What forbids its largest frontier to each processor that may not keep it."""
        found = {}
        for p, frontier in self.frontiers.items():
            restorable, top = self.choice.restorables[p], self.choice.graph.domains[p].top
            if isinstance(restorable, Family):
                keeps_all = all(listed <= frontier for listed in restorable.frontiers)
            else:
                keeps_all = frontier == largest(restorable, top)
            if not keeps_all:
                found[p] = self.why(p)
        return found

    def why(self, p: ProcessorId) -> list[Violation]:
        """The constraints that fail if ``p`` alone kept the next larger frontier.

        There is always one: if none failed, the larger choice would be consistent as a whole, and
        the solution would not be the largest. Of a family that has a maximal frontier this says
        nothing: the choice fell on another one.
        """
        found: dict[Violation, None] = {}
        for larger in self._next_larger(p):
            # Overlaid, not copied: this is asked of every processor that was lowered.
            raised = replace(self.choice, frontiers=Overlay({p: larger}, self._chosen))
            found.update(dict.fromkeys(discarded_messages(raised, p)))
            found.update(dict.fromkeys(delivered_messages(raised, p)))
            found.update(dict.fromkeys(self._unjustified_notifications(raised, p)))
        return list(found)

    @cached_property
    def _chosen(self) -> dict[ProcessorId, Any]:
        return dict(self.frontiers)

    def _next_larger(self, p: ProcessorId) -> list[Any]:
        restorable, frontier = self.choice.restorables[p], self.frontiers[p]
        domain = self.choice.graph.domains[p]
        if isinstance(restorable, Family):
            larger = [f for f in restorable.frontiers if frontier <= f != frontier]
            return [f for f in larger if not any(g <= f != g for g in larger)]
        if isinstance(restorable, Chain):
            following = restorable.frontiers.index(frontier) + 1
            return restorable.frontiers[following : following + 1]
        if frontier == restorable.complete:
            return [] if restorable.failed or frontier.is_top else [domain.top]
        return [] if frontier.is_top else extensions(domain, frontier, restorable.complete)

    def _unjustified_notifications(self, raised: Choice, p: ProcessorId) -> list[Violation]:
        """N̄(p, g) ⊆ φ(d)(f_n(src(d))), the term of Figure 6 that joins the last two constraints."""
        notified, found = raised.notified(p), []
        best = self._best_notification(raised, p)
        for edge in raised.graph.inputs(p):
            source = best if edge.source == p else self.notifications[edge.source]
            fixed = raised.projected(edge, source)
            mine = raised.part(edge, notified)
            if not mine <= fixed:
                because = (
                    f"{p} was notified up to {mine!r}, but the notification frontier of"
                    f" {edge.source} fixes only {fixed!r}"
                )
                found.append(
                    Violation("notification-projection", p, edge.name, because, mine, fixed)
                )
        if not notified <= raised.frontiers[p]:
            because = f"{p} was notified up to {notified!r}, beyond its frontier"
            found.append(Violation("processed-notifications", p, None, because))
        return found

    def _best_notification(self, raised: Choice, p: ProcessorId) -> Any:
        """f_n(p) as large as it could be if ``p`` alone were raised."""
        domain, best, previous = raised.graph.domains[p], raised.frontiers[p], None
        while best != previous:
            previous = best
            for edge in raised.graph.inputs(p):
                before = best if edge.source == p else self.notifications[edge.source]
                best = domain.limited(best, edge.name, raised.projected(edge, before))
        return best


def solve(graph: Graph, restorables: Mapping[ProcessorId, Restorable]) -> Solution:
    """The largest consistent frontiers for ``graph``, given what each processor can restore.

    >>> from falkirk.core.checkpoint import AnyFrontier, Checkpoint
    >>> from falkirk.core.domain import EPOCH
    >>> from falkirk.core.graph import Edge
    >>> from falkirk.core.projection import Identity
    >>> g = Graph({"p": EPOCH, "q": EPOCH}, [Edge("e", "p", "q", Identity(EPOCH, EPOCH))])
    >>> saved = [Checkpoint(EPOCH.empty), Checkpoint(EPOCH.frontier([(4,)]))]
    >>> solution = solve(g, {"p": AnyFrontier(EPOCH.frontier([(6,)])), "q": Chain(g, "q", saved)})
    >>> solution.frontiers
    {'p': ↓(4), 'q': ↓(4)}
    >>> print(solution.why("p")[0].because)
    p discarded messages up to ↓(5), but q keeps only ↓(4)

    Where a processor has a :class:`~falkirk.core.family.Family` of frontiers that are not totally
    ordered, a maximal choice is returned, the same one every time.
    """
    point: Fixpoint
    if any(isinstance(restorable, Family) for restorable in restorables.values()):
        point, maximum = choose(graph, restorables)
        kind: type[Choice] = FamilyChoice
    else:
        point, maximum, kind = Fixpoint(graph, restorables), True, Choice
        point.settle()
    frontiers = dict(zip(point.names, point.frontier, strict=True))
    notifications = dict(zip(point.names, point.notification, strict=True))
    return Solution(kind(graph, restorables, frontiers, notifications), maximum)
