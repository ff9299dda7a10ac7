"""What each output of a flow really promises, and because of whom it promises no more."""

from dataclasses import dataclass

from falkirk.core.machine.flow import Role
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.explanation import policy_text


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What an output promises; ``because`` names who is to blame where that is not exactly once."""

    output: str
    kind: str
    promise: str
    because: str
    location: str


def guarantees(blueprint: Blueprint) -> list[Guarantee]:
    """Of every sink of the flow."""
    return [guarantee(blueprint, name) for name in blueprint.sinks]


def guarantee(blueprint: Blueprint, name: ProcessorId) -> Guarantee:
    """Of one sink."""
    node, guilty = blueprint.nodes[name], sorted(loosened_by(blueprint, name) - {name})
    if node.policy.tainted:
        repeats = not getattr(node.operator, "exactly_once", False)
        because = (
            f"{node.kind} cannot recognise what was written before"
            if repeats
            else f"its own policy is {policy_text(node.policy)}"
        )
        return Guarantee(name, node.kind, "at least once", because, node.location)
    if guilty:
        because = f"rows may come twice out of {', '.join(guilty)}, which says at_least_once()"
        return Guarantee(name, node.kind, "at least once", because, node.location)
    return Guarantee(
        name, node.kind, "exactly once", "staged, and written when it is final", node.location
    )


def loosened_by(blueprint: Blueprint, name: ProcessorId) -> set[ProcessorId]:
    """The at-least-once processors before ``name``, and itself if it is one."""
    return {p for p in before(blueprint, name) if blueprint.nodes[p].policy.tainted}


def before(blueprint: Blueprint, name: ProcessorId) -> set[ProcessorId]:
    """All that can reach ``name``, bridges included."""
    flow = blueprint.flow
    slow = {bridge.versions: bridge.slow for bridge in flow.latest.values()}
    found, pending = {name}, [name]
    while pending:
        p = pending.pop()
        sources = {edge.source for edge in flow.graph.inputs(p)}
        if p in slow:
            sources.add(slow[p])
        pending += sources - found
        found |= sources
    return found


def shown_by(blueprint: Blueprint, name: ProcessorId) -> list[ProcessorId]:
    """The sinks that ``name`` can reach."""
    return [sink for sink in blueprint.sinks if name in before(blueprint, sink)]


def is_input(blueprint: Blueprint, name: ProcessorId) -> bool:
    """Whether rows come in there from outside."""
    return blueprint.nodes[name].role is Role.INPUT and name in blueprint.sources
