"""Choosing among frontiers that are not totally ordered (§3.6).

Each family starts with all its checkpoints as candidates, and stands for the union of them towards
its neighbours, which is at least what any choice would allow. Candidates that even so violate a
constraint go, until none does: every consistent choice is still there. If every family then has a
largest candidate, taking it everywhere is consistent and is the largest choice.

Otherwise one of the maximal candidates of one family is tried, in the order in which they were
saved, newest first: the others that are not inside it go, and the same is done again. A candidate
that does not survive to the end goes as well, since no consistent choice has it together with what
was tried before. The choice that is found is maximal: a larger one would have, in each family that
was tried, a candidate that contains the one tried; that was maximal among all that consistent
choices still had, so it is the same; and with these given, what was found is the largest.

In the worst case this tries every combination of maximal candidates: choosing from sets without
order is that hard.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any

from falkirk.core.checkpoint import Chain, Restorable
from falkirk.core.errors import InvariantError, RecoveryError
from falkirk.core.family import Family
from falkirk.core.fixpoint import Fixpoint
from falkirk.core.graph import Graph
from falkirk.core.times import ProcessorId
from falkirk.core.trail import NO_EDGE, Blocked

Tried = dict[int, int]
"""The candidate that was tried of each family that was decided."""


class Candidates(Fixpoint):
    """The fixed point in which a family stands for the union of its candidates."""

    def __init__(self, graph: Graph, restorables: Mapping[ProcessorId, Restorable]) -> None:
        """Every checkpoint of a family is a candidate."""
        self.candidates: dict[int, list[int]] = {}
        super().__init__(graph, restorables)
        self._suspects.extend(self.candidates)

    def clone(self) -> "Candidates":
        """A copy that can be lowered on its own."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict):
                setattr(other, name, value.copy())
        return other

    def inside(self, p: int, candidate: int) -> "Candidates":
        """A settled copy in which ``p`` has ``candidate`` and what lies inside it."""
        other, frontiers = self.clone(), self.family(p).frontiers
        other.keep(p, [i for i in self.candidates[p] if frontiers[i] <= frontiers[candidate]])
        return other

    def keep(self, p: int, candidates: list[int]) -> None:
        """Leaves ``p`` only some of its candidates, and settles."""
        self._put_candidates(p, self.family(p), candidates)
        self._suspects.append(p)
        self._touch(p)
        self._run()

    def undecided(self) -> tuple[int, int] | None:
        """The first family without a largest candidate, with the newest of its maximal ones."""
        for p, candidates in self.candidates.items():
            maximal = self.family(p).maximal(candidates)
            if len(maximal) > 1:
                return p, maximal[-1]
        return None

    def has(self, tried: Tried) -> bool:
        """Whether everything that was tried is still there."""
        return all(candidate in self.candidates[p] for p, candidate in tried.items())

    def family(self, p: int) -> Family:
        """The family of ``p``, which has one."""
        family = self.restorables[p]
        assert isinstance(family, Family)
        return family

    # What is different for a family.

    def largest(self, p: int) -> Any:
        """max F*(p), or the union of a family."""
        restorable = self.restorables[p]
        if isinstance(restorable, Family):
            return restorable.union(range(len(restorable.frontiers)))
        return super().largest(p)

    def _put_chain(self, p: int, chain: Chain, i: int) -> None:
        if isinstance(chain, Family):
            self._put_candidates(p, chain, list(range(i + 1)))
        else:
            super()._put_chain(p, chain, i)

    def _put_candidates(self, p: int, family: Family, candidates: list[int]) -> None:
        self.candidates[p] = candidates
        self.frontier[p] = family.union(candidates)

    def _lower_chain(
        self, p: int, chain: Chain, column: list[Any], bound: Any, kind: Blocked, e: int
    ) -> None:
        if not isinstance(chain, Family):
            super()._lower_chain(p, chain, column, bound, kind, e)
            return
        kept = [i for i in self.candidates[p] if column[i] <= bound]
        if len(kept) < len(self.candidates[p]):
            self._lower_family(p, chain, kept, kind, e)
            self._reconcile(p)

    def _lower_family(self, p: int, family: Family, kept: list[int], kind: Blocked, e: int) -> None:
        if not kept:
            raise RecoveryError(self._below_floor(family, kind, e))
        self._put_candidates(p, family, kept)
        self._touch(p)

    def _reconcile(self, p: int) -> None:
        family = self.restorables[p]
        if not isinstance(family, Family):
            super()._reconcile(p)
            return
        while True:
            notification, candidates = self._confine(p), self.candidates[p]
            kept = [
                i
                for i in candidates
                if family.notified[i] <= notification and family.notified[i] <= family.frontiers[i]
            ]
            if len(kept) == len(candidates):
                return
            self._lower_family(p, family, kept, Blocked.NOTIFIED, NO_EDGE)

    def _announce_recorded(self, p: int, edges: list[int]) -> None:
        if not isinstance(self.restorables[p], Family):
            super()._announce_recorded(p, edges)
            return
        for e in edges:
            self._deliver(e, self.project(e, self.frontier[p]))
            self._notify(e, self.project(e, self.notification[p]))

    def project(self, e: int, frontier: Any) -> Any:
        """φ(e); at the frontier of a family, at least that of any candidate."""
        p, edge = self.topology.source[e], self.edges[e]
        family = self.restorables[p]
        if not isinstance(family, Family) or not edge.projection.recorded:
            return super().project(e, frontier)
        inside = [i for i, listed in enumerate(family.frontiers) if listed <= frontier]
        return family.fixed(edge.name, inside, self.domains[self.topology.target[e]].edge_empty)


def choose(graph: Graph, restorables: Mapping[ProcessorId, Restorable]) -> tuple[Candidates, bool]:
    """A maximal consistent choice, and whether it is the largest: contains every other one."""
    start = Candidates(graph, restorables)
    start.settle()
    found = _search(start.clone(), {})
    if found is None:
        raise InvariantError("no consistent choice was found, though ∅ everywhere is one")
    return found, not any(
        _search(start.inside(p, other), {p: other})
        for p, candidates in start.candidates.items()
        for other in candidates
        if not start.family(p).frontiers[other] <= found.frontier[p]
    )


def _search(state: Candidates, tried: Tried) -> Candidates | None:
    """The choice found from ``state`` with everything that was ``tried``, if there is one."""
    while state.has(tried):
        undecided = state.undecided()
        if undecided is None:
            return state
        p, candidate = undecided
        found = _search(state.inside(p, candidate), {**tried, p: candidate})
        if found is not None:
            return found
        state.keep(p, [i for i in state.candidates[p] if i != candidate])
    return None
