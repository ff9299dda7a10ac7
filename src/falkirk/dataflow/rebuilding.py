"""A flow again from its description: enough of it to decide recoveries, without the user's code."""

from collections.abc import Mapping
from typing import Any

from falkirk.core.bridges import Recorded
from falkirk.core.domain import EPOCH, Sequence, Structured
from falkirk.core.graph import Edge
from falkirk.core.machine.flow import Flow, Latest, Processor, Role
from falkirk.core.order import Order
from falkirk.core.policy import Policy, Regime
from falkirk.core.projection import Enter, Feedback, Identity, Leave, Projection
from falkirk.core.times import EdgeId, ProcessorId

PROJECTIONS = {each.name: each for each in (Identity, Enter, Leave, Feedback)}


def flow_of(description: Mapping[str, Any]) -> Flow:
    """The machine's flow that :func:`falkirk.dataflow.describe` described.

    Intervals are not part of a description, so it must not be run: it says who depends on whom.
    """
    processors = {
        ProcessorId(name): Processor(
            ProcessorId(name),
            domain_of(each["domain"]),
            Policy(Regime(each["regime"]), log=frozenset(map(EdgeId, each["logs"]))),
            Role(each["role"]),
            each["opaque"],
        )
        for name, each in description["processors"].items()
    }
    edges = [
        Edge(
            EdgeId(name),
            ProcessorId(each["source"]),
            ProcessorId(each["target"]),
            projection_of(
                each["projection"],
                processors[each["source"]].domain,
                processors[each["target"]].domain,
            ),
        )
        for name, each in description["edges"].items()
    ]
    bridges = [
        Latest(*(ProcessorId(each[end]) for end in ("slow", "versions", "fast")))
        for each in description["latest"]
    ]
    return Flow(processors.values(), edges, bridges)


def projection_of(name: str, source: Any, target: Any) -> Projection:
    """φ of an edge between two domains; a recorded one is known from checkpoints alone."""
    return Recorded() if name == Recorded.name else PROJECTIONS[name](source, target)


def domain_of(value: Mapping[str, Any]) -> Structured | Sequence:
    """The times that a description names."""
    if value.get("kind") == "sequence":
        return Sequence()
    return EPOCH if value["depth"] == 1 else Structured(value["depth"], Order(value["order"]))
