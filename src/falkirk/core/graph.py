"""The dataflow graph that recovery reasons about: processors, their domains, edges, projections."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from falkirk.core.domain import Domain
from falkirk.core.errors import DefinitionError
from falkirk.core.projection import Projection
from falkirk.core.times import EdgeId, ProcessorId


@dataclass(frozen=True, slots=True)
class Edge:
    """A channel from ``source`` to ``target``; message times are in the target's domain."""

    name: EdgeId
    source: ProcessorId
    target: ProcessorId
    projection: Projection


class Graph:
    """An immutable graph; processors and edges are also numbered for the solver's arrays.

    >>> from falkirk.core.domain import EPOCH
    >>> from falkirk.core.projection import Identity
    >>> g = Graph({"p": EPOCH, "q": EPOCH}, [Edge("e", "p", "q", Identity(EPOCH, EPOCH))])
    >>> [e.name for e in g.outputs("p")], [e.name for e in g.inputs("p")]
    (['e'], [])
    """

    def __init__(self, processors: Mapping[ProcessorId, Domain], edges: Iterable[Edge]) -> None:
        """A graph of ``processors`` with their domains; refuses cycles that stand still in time."""
        self.domains = dict(processors)
        self.edges: dict[EdgeId, Edge] = {}
        self._outputs: dict[ProcessorId, list[Edge]] = {p: [] for p in self.domains}
        self._inputs: dict[ProcessorId, list[Edge]] = {p: [] for p in self.domains}
        for edge in edges:
            for end in (edge.source, edge.target):
                if end not in self.domains:
                    raise DefinitionError(f"edge {edge.name!r} names an unknown processor {end!r}")
            if edge.name in self.edges:
                raise DefinitionError(f"edge {edge.name!r} is defined twice")
            self.edges[edge.name] = edge
            self._outputs[edge.source].append(edge)
            self._inputs[edge.target].append(edge)
        self._refuse_still_cycles()
        self.topology = Topology(self)

    def outputs(self, processor: ProcessorId) -> list[Edge]:
        """Out(p), in the order of definition."""
        return self._outputs[processor]

    def inputs(self, processor: ProcessorId) -> list[Edge]:
        """In(p), in the order of definition."""
        return self._inputs[processor]

    def _refuse_still_cycles(self) -> None:
        still: dict[ProcessorId, list[ProcessorId]] = {p: [] for p in self.domains}
        for edge in self.edges.values():
            if not edge.projection.advances:
                still[edge.target].append(edge.source)
        try:
            TopologicalSorter(still).prepare()
        except CycleError as error:
            cycle = " → ".join(reversed(error.args[1]))
            raise DefinitionError(
                f"the cycle {cycle} has no feedback and no recorded edge, so time stands still"
            ) from None


class Topology:
    """The same graph over numbers, in the arrays that the solver walks.

    The solver's time on a large graph goes into fetching what it compares, not into comparing, so
    what belongs together stands in one row: ``sources[p]`` goes with the input edges of p, and
    ``groups[p]`` has its output edges by projection, each group with the targets of its edges.
    What p fixes is worked out once for all edges that share a projection.
    """

    __slots__ = (
        "edges",
        "groups",
        "inputs",
        "names",
        "number",
        "outputs",
        "source",
        "sources",
        "target",
    )

    def __init__(self, graph: Graph) -> None:
        """Numbers processors and edges in the order of definition."""
        self.names = list(graph.domains)
        self.number = {name: i for i, name in enumerate(self.names)}
        self.edges = list(graph.edges.values())
        self.source = [self.number[edge.source] for edge in self.edges]
        self.target = [self.number[edge.target] for edge in self.edges]
        self.inputs: list[list[int]] = [[] for _ in self.names]
        self.outputs: list[list[int]] = [[] for _ in self.names]
        groups: list[dict[int, tuple[Projection, list[int]]]] = [{} for _ in self.names]
        for e, edge in enumerate(self.edges):
            p = self.source[e]
            self.outputs[p].append(e)
            self.inputs[self.target[e]].append(e)
            projection = edge.projection
            groups[p].setdefault(id(projection), (projection, []))[1].append(e)
        self.sources = [[self.source[d] for d in inputs] for inputs in self.inputs]
        self.groups = [
            [
                (projection, edges, [self.target[e] for e in edges])
                for projection, edges in group.values()
            ]
            for group in groups
        ]
