"""Compiling what was written into the flow that the machine runs, or refusing it."""

from collections.abc import Mapping
from dataclasses import dataclass

from falkirk.core.bridges import Recorded
from falkirk.core.domain import Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.graph import Edge
from falkirk.core.machine.flow import Flow, Latest, Role
from falkirk.core.machine.flow import Processor as Place
from falkirk.core.projection import (
    Enter,
    Feedback,
    Identity,
    Leave,
    LoopProjection,
    Projection,
)
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.dataflow.location import refusal
from falkirk.dataflow.node import Crossing, Node, Versions
from falkirk.dataflow.processor import Processor

PROJECTIONS: dict[Crossing, type[LoopProjection]] = {
    "same": Identity,
    "enter": Enter,
    "leave": Leave,
    "around": Feedback,
}
"""φ of an edge, by what it does with a loop."""


@dataclass(frozen=True, slots=True)
class Blueprint:
    """A finished flow.

    ``ports`` says on which port of its target an edge comes in. ``routes`` has for each processor,
    by output port, the edges that lead from there.
    """

    name: str
    flow: Flow
    nodes: Mapping[ProcessorId, Node]
    ports: Mapping[EdgeId, int]
    routes: Mapping[ProcessorId, tuple[tuple[EdgeId, ...], ...]]

    @property
    def sources(self) -> dict[ProcessorId, Node]:
        """Where rows come in from outside; the version inputs of bridges are none of them."""
        return {
            name: node
            for name, node in self.nodes.items()
            if node.role is Role.INPUT and not isinstance(node.operator, Versions)
        }

    @property
    def sinks(self) -> dict[ProcessorId, Node]:
        """Where rows go out; the outputs that feed a bridge are none of them."""
        return {
            name: node
            for name, node in self.nodes.items()
            if node.role is Role.OUTPUT and name not in self.flow.latest
        }

    @property
    def answering(self) -> dict[ProcessorId, frozenset[ProcessorId]]:
        """The sinks that answer a source, of the sources that say so."""
        return {
            name: frozenset(q for q, sink in self.sinks.items() if answers(sink.operator))
            for name, node in self.sources.items()
            if (answers := getattr(node.operator, "answered_by", None))
        }


def build(name: str, nodes: Mapping[ProcessorId, Node], location: str) -> Blueprint:
    """The blueprint of ``nodes``."""
    check(name, nodes, location)
    edges, ports = list[Edge](), dict[EdgeId, int]()
    routes: dict[ProcessorId, list[list[EdgeId]]] = {
        each.name: [[] for _ in range(outputs(each))] for each in nodes.values()
    }
    for node in nodes.values():
        read = [each.source for each in node.inputs]
        for port, each in enumerate(node.inputs):
            several = f":{port}" if read.count(each.source) > 1 else ""
            edge = EdgeId(f"{each.source}>{node.name}{several}")
            projected = projection(nodes[each.source], node, each.crossing)
            edges.append(Edge(edge, each.source, node.name, projected))
            ports[edge] = port
            routes[each.source][each.output].append(edge)
    check_logs(nodes, edges)
    try:
        places = [place(node, into_windows(node, nodes, edges)) for node in nodes.values()]
        flow = Flow(places, edges, bridges(nodes))
    except DefinitionError as error:
        raise refusal(error.args[0], location) from error
    fixed = {each: tuple(map(tuple, found)) for each, found in routes.items()}
    return Blueprint(name, flow, dict(nodes), ports, fixed)


def projection(source: Node, target: Node, crossing: Crossing) -> Projection:
    """φ of an edge; what is counted, or closed by the sender, is recorded as it happens."""
    if isinstance(source.domain, Structured) and isinstance(target.domain, Structured):
        return PROJECTIONS[crossing](source.domain, target.domain)
    return Recorded()


def into_windows(node: Node, nodes: Mapping[ProcessorId, Node], edges: list[Edge]) -> list[EdgeId]:
    """The edges from ``node``, which has sequence numbers, to epochs that it closes itself."""
    leaving = [edge for edge in edges if node.numbered and edge.source == node.name]
    return [edge.name for edge in leaving if not nodes[edge.target].numbered]


def place(node: Node, windows: list[EdgeId]) -> Place:
    """The processor as the machine sees it; what it sends into ``windows`` is logged.

    The receiver of an open window cannot save what it has of it. If the sender did not either, both
    could go back only to moments at which a window was closed and everyone else saved by chance.
    """
    own = node.operator if isinstance(node.operator, Processor) else None
    opaque, lattice = (own.opaque, own.lattice) if own else (False, False)
    unlogged = [edge for edge in windows if not node.policy.logs(edge)]
    policy = node.policy.logging(*unlogged)
    return Place(node.name, node.domain, policy, node.role, opaque, lattice)


def outputs(node: Node) -> int:
    """How many output ports a node has."""
    if node.role is Role.OUTPUT:
        return 0
    return node.operator.outputs if isinstance(node.operator, Processor) else 1


def bridges(nodes: Mapping[ProcessorId, Node]) -> list[Latest]:
    """The latest bridges."""
    return [
        Latest(node.operator.slow, node.name, node.operator.fast)
        for node in nodes.values()
        if isinstance(node.operator, Versions)
    ]


def check(name: str, nodes: Mapping[ProcessorId, Node], location: str) -> None:
    """Refuses a flow without inputs, and an opaque processor at two places."""
    if not any(node.role is Role.INPUT for node in nodes.values()):
        raise refusal(f"the flow {name!r} reads nothing: begin with flow.read(source)", location)
    opaque: dict[int, Node] = {}
    for node in nodes.values():
        if isinstance(node.operator, Processor) and node.operator.opaque:
            first = opaque.setdefault(id(node.operator), node)
            if first is not node:
                raise refusal(
                    f"{node.name!r} is the same object as {first.name!r} ({first.location}), and"
                    f" {node.kind} keeps its state in itself: make another one",
                    node.location,
                )


def check_logs(nodes: Mapping[ProcessorId, Node], edges: list[Edge]) -> None:
    """Refuses a policy that logs an edge which is not there."""
    for node in nodes.values():
        leaving = [edge.name for edge in edges if edge.source == node.name]
        for logged in sorted(node.policy.log - set(leaving)):
            known = ", ".join(map(repr, leaving)) or "none"
            raise refusal(
                f"{node.name!r} is to log {logged!r}, which is none of its edges: {known}",
                node.location,
            )
