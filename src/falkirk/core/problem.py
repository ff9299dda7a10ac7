"""The rollback problem as a file: the exchange format of ``falkirk solve``.

A problem is JSON: processors with their domains and what they can restore, and edges with their
projections. The answer is JSON too, frontiers in the same notation. Every complaint names the
place.
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from falkirk.core.bridges import Recorded
from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.domain import EPOCH, Domain, Sequence, Structured
from falkirk.core.errors import DefinitionError, ProblemError
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.graph import Edge, Graph
from falkirk.core.order import Order
from falkirk.core.projection import Enter, Feedback, Identity, Leave, LoopProjection, Projection
from falkirk.core.rollback import Solution
from falkirk.core.times import INF, EdgeId, ProcessorId

LOOP_PROJECTIONS: Mapping[str, type[LoopProjection]] = {
    kind.name: kind for kind in (Identity, Enter, Leave, Feedback)
}
PROCESSOR_FIELDS = {
    "domain",
    "any_frontier",
    "complete",
    "failed",
    "notifies",
    "logs",
    "checkpoints",
}
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
    try:
        document = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise ProblemError("problem", f"not valid JSON: {error}") from None
    return _Reader(document).problem()


def write_solution(solution: Solution) -> dict[str, Any]:
    """The answer in the exchange format."""
    graph = solution.choice.graph
    return {
        "frontiers": {p: notation(graph, p, f) for p, f in solution.frontiers.items()},
        "notification_frontiers": {
            p: notation(graph, p, f) for p, f in solution.notifications.items()
        },
        "reasons": {
            p: [
                {"constraint": v.constraint, "edge": v.edge, "because": v.because}
                for v in violations
            ]
            for p, violations in solution.reasons.items()
        },
    }


def notation(graph: Graph, p: ProcessorId, frontier: Any) -> Any:
    """A frontier of processor ``p`` as JSON."""
    if frontier.is_empty or frontier.is_top:
        return "empty" if frontier.is_empty else "top"
    if isinstance(frontier, SequenceFrontier):
        counts = {edge.name: frontier.count(edge.name) for edge in graph.inputs(p)}
        return {edge: _number(count) for edge, count in counts.items() if count} or "empty"
    return [[_number(c) for c in time] for time in frontier.maximal]


def _number(coordinate: Any) -> Any:
    return "inf" if coordinate == INF else coordinate


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} occurs twice in one object")
        found[key] = value
    return found


class _Reader:
    """One pass over a document; ``place`` arguments are paths such as ``edges.e1.src``."""

    def __init__(self, document: Any) -> None:
        self.document = _object("problem", document, {"processors", "edges"})
        self.processors = _object("processors", self.document.get("processors"))
        self.edges = _object("edges", self.document.get("edges", {}))
        self.domains = {
            ProcessorId(p): self.domain(f"processors.{p}", _object(f"processors.{p}", body))
            for p, body in self.processors.items()
        }

    def problem(self) -> Problem:
        edges = [
            self.edge(f"edges.{name}", EdgeId(name), body) for name, body in self.edges.items()
        ]
        try:
            self.graph = Graph(self.domains, edges)
        except DefinitionError as error:
            _fail("edges", error)
        return self.graph, {
            p: self.restorable(f"processors.{p}", p, self.processors[p]) for p in self.domains
        }

    def domain(self, place: str, body: dict[str, Any]) -> Domain:
        _known(place, body, PROCESSOR_FIELDS)
        place = f"{place}.domain"
        spec = _object(place, body.get("domain"))
        kind = spec.get("kind")
        _known(place, spec, {"kind", "depth", "order"} if kind == "structured" else {"kind"})
        if kind == "epoch":
            return EPOCH
        if kind == "sequence":
            return Sequence()
        if kind != "structured":
            _fail(f"{place}.kind", f"expected epoch, sequence or structured, not {kind!r}")
        depth, order = spec.get("depth"), spec.get("order", "lex")
        if not isinstance(depth, int) or not _is_count(depth) or depth < 1:
            _fail(f"{place}.depth", f"expected a whole number from 1, not {depth!r}")
        if order not in ("lex", "product"):
            _fail(f"{place}.order", f"expected lex or product, not {order!r}")
        return Structured(depth, Order(order))

    def edge(self, place: str, name: EdgeId, body: Any) -> Edge:
        body = _object(place, body, EDGE_FIELDS)
        ends = []
        for end in ("src", "dst"):
            processor = body.get(end)
            if not isinstance(processor, str) or processor not in self.domains:
                _fail(f"{place}.{end}", f"unknown processor {processor!r}")
            ends.append(ProcessorId(processor))
        projection = self.projection(f"{place}.projection", body.get("projection"), *ends)
        return Edge(name, ends[0], ends[1], projection)

    def projection(
        self, place: str, kind: Any, source: ProcessorId, target: ProcessorId
    ) -> Projection:
        if kind == Recorded.name:
            if self.processors[source].get("any_frontier"):
                _fail(place, f"{source} restores to any frontier, so nothing is recorded for it")
            return Recorded()
        if not isinstance(kind, str) or kind not in LOOP_PROJECTIONS:
            choices = ", ".join([*LOOP_PROJECTIONS, Recorded.name])
            _fail(place, f"expected one of {choices}, not {kind!r}")
        try:
            return LOOP_PROJECTIONS[kind](self.domains[source], self.domains[target])
        except DefinitionError as error:
            _fail(place, error)

    def restorable(self, place: str, p: ProcessorId, body: dict[str, Any]) -> Restorable:
        flags = {
            key: body.get(key, default)
            for key, default in (("any_frontier", False), ("failed", False), ("notifies", True))
        }
        for key, value in flags.items():
            if not isinstance(value, bool):
                _fail(f"{place}.{key}", f"expected true or false, not {value!r}")
        if flags["any_frontier"]:
            return self.any_frontier(place, p, body, flags)
        for key in ("complete", "logs", "notifies"):
            if key in body:
                _fail(f"{place}.{key}", "only a processor with any_frontier has this")
        return self.chain(place, p, body, flags["failed"])

    def any_frontier(
        self, place: str, p: ProcessorId, body: dict[str, Any], flags: dict[str, bool]
    ) -> AnyFrontier:
        if "checkpoints" in body:
            _fail(f"{place}.checkpoints", "a processor with any_frontier has no checkpoints")
        logs = body.get("logs", [])
        outputs = {edge.name for edge in self.graph.outputs(p)}
        if not isinstance(logs, list):
            _fail(f"{place}.logs", f"expected a list of edges, not {logs!r}")
        for edge in logs:
            if not isinstance(edge, str) or edge not in outputs:
                _fail(f"{place}.logs", f"{edge!r} is not an output edge of {p}")
        complete = self.frontier(f"{place}.complete", p, body.get("complete", "empty"))
        return AnyFrontier(complete, flags["failed"], flags["notifies"], frozenset(logs))

    def chain(self, place: str, p: ProcessorId, body: dict[str, Any], failed: bool) -> Chain:
        listed = body.get("checkpoints", [])
        if not isinstance(listed, list):
            _fail(f"{place}.checkpoints", f"expected a list, not {listed!r}")
        found = [
            (f"{place}.checkpoints[{i}]", self.checkpoint(f"{place}.checkpoints[{i}]", p, item))
            for i, item in enumerate(listed)
        ]
        if failed:
            found = [(where, c) for where, c in found if not c.frontier.is_top]
        chain = Chain(self.graph, p)
        if not any(checkpoint.frontier.is_empty for _, checkpoint in found):
            chain.append(Checkpoint(self.domains[p].empty))
        for where, checkpoint in _smallest_first(found):
            try:
                chain.append(checkpoint)
            except DefinitionError as error:
                _fail(where, error)
        return chain

    def checkpoint(self, place: str, p: ProcessorId, body: Any) -> Checkpoint:
        body = _object(place, body, CHECKPOINT_FIELDS)
        if "frontier" not in body:
            _fail(f"{place}.frontier", "missing")
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
            for value in (notified, *processed.values(), *discarded.values()):
                if value is not None and not value.is_empty:
                    _fail(place, f"at the empty frontier nothing has happened, not {value!r}")
        return Checkpoint(frontier, notified, processed, discarded, fixed)

    def by_edge(
        self, place: str, key: str, body: dict[str, Any], edges: list[EdgeId], what: str
    ) -> dict[EdgeId, Any]:
        """Frontiers of the targets' domains, given by edge, each cut to its edge."""
        found = {}
        for name, value in _object(f"{place}.{key}", body.get(key, {})).items():
            if name not in edges:
                _fail(f"{place}.{key}", f"{name!r} is not {what}")
            edge = EdgeId(name)
            target = self.graph.edges[edge].target
            frontier = self.frontier(f"{place}.{key}.{name}", target, value)
            found[edge] = self.domains[target].part(frontier, edge)
        return found

    def frontier(self, place: str, p: ProcessorId, value: Any) -> Any:
        domain = self.domains[p]
        if value in ("empty", "top"):
            return domain.empty if value == "empty" else domain.top
        if isinstance(domain, Structured):
            return self.structured_frontier(place, domain, value)
        counts = _object(place, value)
        inputs = {edge.name for edge in self.graph.inputs(p)}
        for edge, count in counts.items():
            if edge not in inputs:
                _fail(place, f"{edge!r} is not an input edge of {p}")
            if not _is_count(count):
                _fail(f"{place}.{edge}", f"expected a whole number from 0, not {count!r}")
        return SequenceFrontier({EdgeId(edge): count for edge, count in counts.items()})

    def structured_frontier(self, place: str, domain: Structured, value: Any) -> Any:
        if not isinstance(value, list):
            _fail(place, f'expected "empty", "top" or a list of times, not {value!r}')
        times = []
        for i, time in enumerate(value):
            if not isinstance(time, list) or len(time) != domain.depth:
                _fail(
                    f"{place}[{i}]", f"expected a time of {domain.depth} coordinates, not {time!r}"
                )
            for k, c in enumerate(time):
                if not _is_count(c) and not (c == "inf" and k):
                    extra = ' or "inf"' if k else ""
                    _fail(f"{place}[{i}][{k}]", f"expected a whole number from 0{extra}, not {c!r}")
            times.append(tuple(INF if c == "inf" else c for c in time))
        if domain.total and len(times) > 1:
            _fail(place, "times are totally ordered here: a frontier has one maximal time")
        return domain.frontier(times)


def _fail(place: str, message: str | Exception) -> NoReturn:
    reason = message.args[0] if isinstance(message, Exception) else message
    raise ProblemError(place, str(reason))


def _smallest_first(found: list[tuple[str, Checkpoint]]) -> list[tuple[str, Checkpoint]]:
    """The checkpoints by how many of the others each contains: a chain is in order then."""

    def contained(item: tuple[str, Checkpoint]) -> int:
        return sum(other.frontier <= item[1].frontier for _, other in found)

    return sorted(found, key=contained)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _object(place: str, value: Any, known: set[str] | None = None) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail(place, "missing" if value is None else f"expected an object, not {value!r}")
    if known is not None:
        _known(place, value, known)
    return value


def _known(place: str, body: dict[str, Any], known: set[str]) -> None:
    for key in body:
        if key not in known:
            _fail(f"{place}.{key}", f"unknown field; expected {', '.join(sorted(known))}")
