"""The answer in the exchange format."""

from typing import Any

from falkirk.core.frontier import SequenceFrontier
from falkirk.core.graph import Graph
from falkirk.core.rollback import Solution
from falkirk.core.times import INF, ProcessorId


def write_solution(solution: Solution) -> dict[str, Any]:
    """The frontiers and the reasons for them, as JSON."""
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
    """A frontier of processor ``p`` as JSON; a problem may hold it in the same form."""
    if frontier.is_empty or frontier.is_top:
        return "empty" if frontier.is_empty else "top"
    if isinstance(frontier, SequenceFrontier):
        counts = {edge.name: frontier.count(edge.name) for edge in graph.inputs(p)}
        return {edge: _number(count) for edge, count in counts.items() if count} or "empty"
    return [[_number(c) for c in time] for time in frontier.maximal]


def _number(coordinate: Any) -> Any:
    return "inf" if coordinate == INF else coordinate
