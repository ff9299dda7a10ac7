"""F*(p) that is not a chain: any finite set of saved frontiers (§3.6).

"If frontiers are not totally ordered, any maximal element can be chosen." In product order, or with
the sequence numbers of several inputs, a processor may save frontiers of which neither contains the
other. The constraints stay the same; there may be no largest consistent choice any more, but there
is always a maximal one as long as ∅ is among the frontiers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from falkirk.core.checkpoint import Chain, Checkpoint
from falkirk.core.constraints import Choice
from falkirk.core.errors import DefinitionError
from falkirk.core.graph import Edge, Graph
from falkirk.core.times import EdgeId, ProcessorId


class Family(Chain):
    """A set of checkpoints in any order, with the columns of a chain.

    >>> from falkirk.core.domain import Structured
    >>> from falkirk.core.order import Order
    >>> loop = Structured(2, Order.PRODUCT)
    >>> times = [[], [(0, 5)], [(3, 0)]]
    >>> family = Family(Graph({"p": loop}, []), "p", [Checkpoint(loop.frontier(t)) for t in times])
    >>> family.maximal([0, 1, 2])
    [1, 2]

    Deviates: a recorded projection is known at the saved frontiers only; of a notification frontier
    between them it is the union of those inside.
    """

    __slots__ = ()

    def __init__(
        self, graph: Graph, processor: ProcessorId, checkpoints: Iterable[Checkpoint]
    ) -> None:
        """The family of ``checkpoints``, among them that of ∅."""
        super().__init__(graph, processor, checkpoints)
        if not any(frontier.is_empty for frontier in self.frontiers):
            raise DefinitionError(f"the family of {processor!r} lacks ∅, so it may have no choice")

    def _refuse(self, checkpoint: Checkpoint) -> None:
        if checkpoint.frontier in self.frontiers:
            raise DefinitionError(f"{self.processor!r} has saved {checkpoint.frontier!r} twice")

    def _refuse_projection(self, edge: EdgeId, frontier: Any, fixed: Any) -> None:
        for listed, before in zip(self.frontiers, self.projected[edge], strict=True):
            if (listed <= frontier and not before <= fixed) or (
                frontier <= listed and not fixed <= before
            ):
                raise DefinitionError(
                    f"the projection of edge {edge!r} is not monotone (§3.2): {before!r} at"
                    f" {listed!r}, but {fixed!r} at {frontier!r}"
                )

    def maximal(self, positions: Iterable[int]) -> list[int]:
        """Those of ``positions`` whose frontiers lie within none of the others."""
        among, frontiers = list(positions), self.frontiers
        return [i for i in among if not any(i != k and frontiers[i] <= frontiers[k] for k in among)]

    def union(self, positions: Iterable[int]) -> Any:
        """The union of some of the frontiers."""
        return reduce(or_, (self.frontiers[i] for i in positions), self.domain.empty)

    def fixed(self, edge: EdgeId, positions: Iterable[int], empty: Any) -> Any:
        """The union of what is recorded for ``edge`` at ``positions``."""
        return reduce(or_, (self.projected[edge][i] for i in positions), empty)


@dataclass(frozen=True, slots=True)
class FamilyChoice(Choice):
    """A choice where families may have recorded projections."""

    def projected(self, edge: Edge, frontier: Any) -> Any:
        """φ(edge)(frontier)."""
        family = self.restorables[edge.source]
        if not isinstance(family, Family) or not edge.projection.recorded:
            return Choice.projected(self, edge, frontier)
        inside = [i for i, listed in enumerate(family.frontiers) if listed <= frontier]
        return family.fixed(edge.name, inside, self.graph.domains[edge.target].edge_empty)
