"""From a document to the graph and the restorable frontiers that it describes."""

from collections.abc import Mapping
from typing import Any

from falkirk.core.bridges import Recorded
from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.domain import EPOCH, Domain, Sequence, Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.graph import Edge, Graph
from falkirk.core.order import Order
from falkirk.core.problem.document import fail, named, object_at, parse, refuse_unknown, shown
from falkirk.core.problem.frontiers import read_frontier
from falkirk.core.projection import Enter, Feedback, Identity, Leave, LoopProjection, Projection
from falkirk.core.times import EdgeId, ProcessorId

DEPTH_MAX = 64
LOOP_PROJECTIONS: Mapping[str, type[LoopProjection]] = {
    kind.name: kind for kind in (Identity, Enter, Leave, Feedback)
}
ANY_FRONTIER_FIELDS = ("complete", "logs", "notifies")
PROCESSOR_FIELDS = {"domain", "failed", "checkpoints", "any_frontier", *ANY_FRONTIER_FIELDS}
CHECKPOINT_FIELDS = {"frontier", "notified", "processed", "discarded", "projection"}
EDGE_FIELDS = {"src", "dst", "projection"}
Problem = tuple[Graph, dict[ProcessorId, Restorable]]


def read_problem(text: str) -> Problem:
    """The graph and the restorable frontiers that ``text`` describes.

    >>> graph, restorables = read_problem('{"processors": {"p": {"domain": {"kind": "epoch"},'
    ...     ' "any_frontier": true, "complete": [[2]]}}, "edges": {}}')
    >>> restorables["p"].complete
    ↓(2)
    """
    return _Reader(parse(text)).problem()


class _Reader:
    """One pass over a document."""

    def __init__(self, document: Any) -> None:
        self.document = object_at("problem", document, {"processors", "edges"})
        self.processors = named("processors", self.document.get("processors"))
        self.edges = named("edges", self.document.get("edges", {}))
        self.domains = {
            ProcessorId(p): _domain(f"processors.{p}", object_at(f"processors.{p}", body))
            for p, body in self.processors.items()
        }

    def problem(self) -> Problem:
        edges = [
            self.edge(f"edges.{name}", EdgeId(name), body) for name, body in self.edges.items()
        ]
        try:
            self.graph = Graph(self.domains, edges)
        except DefinitionError as error:
            fail("edges", error)
        return self.graph, {
            p: self.restorable(f"processors.{p}", p, self.processors[p]) for p in self.domains
        }

    def edge(self, place: str, name: EdgeId, body: Any) -> Edge:
        body = object_at(place, body, EDGE_FIELDS)
        ends = []
        for end in ("src", "dst"):
            processor = body.get(end)
            if not isinstance(processor, str) or processor not in self.domains:
                fail(f"{place}.{end}", f"unknown processor {shown(processor)}")
            ends.append(ProcessorId(processor))
        projection = self.projection(f"{place}.projection", body.get("projection"), *ends)
        return Edge(name, ends[0], ends[1], projection)

    def projection(
        self, place: str, kind: Any, source: ProcessorId, target: ProcessorId
    ) -> Projection:
        if kind == Recorded.name:
            if self.processors[source].get("any_frontier"):
                fail(place, f"{source} restores to any frontier, so nothing is recorded for it")
            return Recorded()
        if not isinstance(kind, str) or kind not in LOOP_PROJECTIONS:
            choices = ", ".join([*LOOP_PROJECTIONS, Recorded.name])
            fail(place, f"expected one of {choices}, not {shown(kind)}")
        try:
            return LOOP_PROJECTIONS[kind](self.domains[source], self.domains[target])
        except DefinitionError as error:
            fail(place, error)

    def restorable(self, place: str, p: ProcessorId, body: dict[str, Any]) -> Restorable:
        flags = {
            key: body.get(key, default)
            for key, default in (("any_frontier", False), ("failed", False), ("notifies", True))
        }
        for key, value in flags.items():
            if not isinstance(value, bool):
                fail(f"{place}.{key}", f"expected true or false, not {shown(value)}")
        if flags["any_frontier"]:
            return self.any_frontier(place, p, body, flags)
        for key in ANY_FRONTIER_FIELDS:
            if key in body:
                fail(f"{place}.{key}", "only a processor with any_frontier has this")
        return self.chain(place, p, body, flags["failed"])

    def any_frontier(
        self, place: str, p: ProcessorId, body: dict[str, Any], flags: dict[str, bool]
    ) -> AnyFrontier:
        if "checkpoints" in body:
            fail(f"{place}.checkpoints", "a processor with any_frontier has no checkpoints")
        logs = body.get("logs", [])
        outputs = {edge.name for edge in self.graph.outputs(p)}
        if not isinstance(logs, list):
            fail(f"{place}.logs", f"expected a list of edges, not {shown(logs)}")
        for edge in logs:
            if not isinstance(edge, str) or edge not in outputs:
                fail(f"{place}.logs", f"{shown(edge)} is not an output edge of {p}")
        complete = self.frontier(f"{place}.complete", p, body.get("complete", "empty"))
        return AnyFrontier(complete, flags["failed"], flags["notifies"], frozenset(logs))

    def chain(self, place: str, p: ProcessorId, body: dict[str, Any], failed: bool) -> Chain:
        listed = body.get("checkpoints", [])
        if not isinstance(listed, list):
            fail(f"{place}.checkpoints", f"expected a list, not {shown(listed)}")
        found = [
            (f"{place}.checkpoints[{i}]", self.checkpoint(f"{place}.checkpoints[{i}]", p, item))
            for i, item in enumerate(listed)
        ]
        if not any(checkpoint.frontier.is_empty for _, checkpoint in found):
            found.insert(0, (place, Checkpoint(self.domains[p].empty)))
        found = _smallest_first(found)
        chain = Chain(self.graph, p)
        for where, checkpoint in found:
            try:
                chain.append(checkpoint)
            except DefinitionError as error:
                fail(where, error)
        if failed and chain.frontiers[-1].is_top:
            # What is lost has been checked like everything else.
            return Chain(self.graph, p, [checkpoint for _, checkpoint in found[:-1]])
        return chain

    def checkpoint(self, place: str, p: ProcessorId, body: Any) -> Checkpoint:
        body = object_at(place, body, CHECKPOINT_FIELDS)
        if "frontier" not in body:
            fail(f"{place}.frontier", "missing")
        inputs = [edge.name for edge in self.graph.inputs(p)]
        outputs = [edge.name for edge in self.graph.outputs(p)]
        recorded = [edge.name for edge in self.graph.outputs(p) if edge.projection.recorded]
        frontier = self.frontier(f"{place}.frontier", p, body["frontier"])
        notified = None
        if "notified" in body:
            notified = self.frontier(f"{place}.notified", p, body["notified"])
        processed = self.by_edge(place, "processed", body, inputs, f"an input edge of {p}")
        discarded = self.by_edge(place, "discarded", body, outputs, f"an output edge of {p}")
        fixed = self.by_edge(place, "projection", body, recorded, f"a recorded output edge of {p}")
        if frontier.is_empty:
            for value in (notified, *processed.values(), *discarded.values(), *fixed.values()):
                if value is not None and not value.is_empty:
                    fail(place, f"at the empty frontier nothing has happened, not {value!r}")
        return Checkpoint(frontier, notified, processed, discarded, fixed)

    def by_edge(
        self, place: str, key: str, body: dict[str, Any], edges: list[EdgeId], what: str
    ) -> dict[EdgeId, Any]:
        """Frontiers of the targets' domains, given by edge, each cut to its edge."""
        found = {}
        for name, value in object_at(f"{place}.{key}", body.get(key, {})).items():
            if name not in edges:
                fail(f"{place}.{key}", f"{shown(name)} is not {what}")
            edge = EdgeId(name)
            target = self.graph.edges[edge].target
            frontier = self.frontier(f"{place}.{key}.{name}", target, value)
            found[edge] = self.domains[target].part(frontier, edge)
        return found

    def frontier(self, place: str, p: ProcessorId, value: Any) -> Any:
        inputs = [edge.name for edge in self.graph.inputs(p)]
        return read_frontier(place, self.domains[p], inputs, value)


def _domain(place: str, body: dict[str, Any]) -> Domain:
    refuse_unknown(place, body, PROCESSOR_FIELDS)
    place = f"{place}.domain"
    spec = object_at(place, body.get("domain"))
    kind = spec.get("kind")
    refuse_unknown(place, spec, {"kind", "depth", "order"} if kind == "structured" else {"kind"})
    if kind == "epoch":
        return EPOCH
    if kind == "sequence":
        return Sequence()
    if kind != "structured":
        fail(f"{place}.kind", f"expected epoch, sequence or structured, not {shown(kind)}")
    depth, order = spec.get("depth"), spec.get("order", "lex")
    if not isinstance(depth, int) or isinstance(depth, bool) or not 1 <= depth <= DEPTH_MAX:
        fail(f"{place}.depth", f"expected a whole number from 1 to {DEPTH_MAX}, not {shown(depth)}")
    if order not in ("lex", "product"):
        fail(f"{place}.order", f"expected lex or product, not {shown(order)}")
    return Structured(depth, Order(order))


def _smallest_first(found: list[tuple[str, Checkpoint]]) -> list[tuple[str, Checkpoint]]:
    """The checkpoints by how many of the others each contains: a chain is in order then."""

    def contained(item: tuple[str, Checkpoint]) -> int:
        return sum(other.frontier <= item[1].frontier for _, other in found)

    return sorted(found, key=contained)
