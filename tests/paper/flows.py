"""Short ways to write down the flows and batches of the stories."""

from collections.abc import Iterable, Mapping
from typing import Any

from falkirk.core.bridges import Recorded
from falkirk.core.domain import EPOCH, Domain, Sequence
from falkirk.core.graph import Edge
from falkirk.core.machine.flow import Flow, Latest, Processor, Role
from falkirk.core.policy import Policy
from falkirk.core.projection import Enter, Feedback, Identity, Leave
from falkirk.testing.logic import Items

PROJECTIONS = {"identity": Identity, "enter": Enter, "leave": Leave, "feedback": Feedback}


def flow_of(
    policies: Mapping[str, Policy],
    *,
    outputs: Iterable[str] = (),
    opaque: Iterable[str] = (),
    latest: Iterable[Latest] = (),
    domains: Mapping[str, Domain] | None = None,
    **edges: str,
) -> Flow:
    """A flow whose edges read ``e="p > q"``, or ``e="p > q by enter"``.

    Who has no input edges is an input; domains are epochs unless given. ``opaque`` processors keep
    their state themselves.
    """
    given = domains or {}
    of = {name: given.get(name, EPOCH) for name in policies}
    made = []
    for name, text in edges.items():
        ends, _, kind = text.partition(" by ")
        source, target = ends.split(" > ")
        if isinstance(of[target], Sequence) or isinstance(of[source], Sequence):
            made.append(Edge(name, source, target, Recorded()))
        else:
            projection = PROJECTIONS[kind or "identity"](of[source], of[target])
            made.append(Edge(name, source, target, projection))
    fed = {edge.target for edge in made}
    roles = {name: Role.INNER if name in fed else Role.INPUT for name in policies}
    roles |= dict.fromkeys(outputs, Role.OUTPUT)
    own = set(opaque)
    processors = [Processor(p, of[p], policies[p], roles[p], p in own) for p in policies]
    return Flow(processors, made, latest)


def items(*values: int, label: str = "x") -> Items:
    """A batch of values."""
    return tuple((label, value, 0) for value in values)


def values(batches: Iterable[Any]) -> list[int]:
    """The values in a batch or in a state, sorted."""
    return sorted(value for _, value, _ in batches)
