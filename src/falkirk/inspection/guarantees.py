"""What each output of a flow really promises, and because of whom it promises no more."""

from dataclasses import dataclass

from falkirk.core.machine.flow import Role
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.connecting import JointSink
from falkirk.dataflow.explanation import policy_text
from falkirk.dataflow.node import Node
from falkirk.inspection.authors import is_falkirks

FINAL = "staged, and written when it is final"
CONTRACT = "falkirk.testing.contracts.SinkContract"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What an output promises; ``because`` names who is to blame where that is not exactly once.

    It is ``claimed`` where it rests on what somebody else's code says of itself.
    """

    output: str
    kind: str
    promise: str
    because: str
    location: str
    claimed: bool = False


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
    claim = claim_of(node)
    because = f"{FINAL}; {claim}" if claim else FINAL
    return Guarantee(name, node.kind, "exactly once", because, node.location, bool(claim))


def claim_of(node: Node) -> str:
    """What the promise of an exactly-once sink rests on, if falkirk itself cannot answer for it."""
    tested = "" if isinstance(node.operator, JointSink) else f", which {CONTRACT} tests"
    if not is_falkirks(node.operator):
        return f"that {node.kind} recognises what it has written is its own claim{tested}"
    if getattr(node.operator, "idempotent", False):
        return f"that repetitions are recognised is what idempotent=True claims{tested}"
    return ""


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
