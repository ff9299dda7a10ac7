"""``falkirk check``: what a flow promises and what is odd about it, before it runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from typing import Any

from falkirk.core.policy import Regime
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.explanation import policy_text
from falkirk.dataflow.node import Node
from falkirk.inspection.advising import Advice, advice
from falkirk.inspection.growth import growth
from falkirk.inspection.guarantees import (
    Guarantee,
    guarantees,
    is_input,
    loosened_by,
    shown_by,
)
from falkirk.inspection.measured import Measured, measured
from falkirk.inspection.steady import Setback, Steady
from falkirk.runtime.pressure import behind_numbers

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd. ``code`` is stable; ``next`` says what can be done."""

    severity: str
    code: str
    processor: str
    location: str
    words: str
    next: str


@dataclass(frozen=True, slots=True)
class Blast:
    """Who does how many epochs again when ``processor`` fails at the worst moment."""

    processor: str
    policy: str
    setbacks: tuple[Setback, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """All that is known of a flow before it runs; ``basis`` says what advice rests on."""

    flow: str
    guarantees: tuple[Guarantee, ...]
    findings: tuple[Finding, ...]
    blasts: tuple[Blast, ...]
    advice: tuple[Advice, ...] = ()
    basis: str = ""


def check_flow(blueprint: Blueprint, facts: Measured | None = None) -> Checked:
    """Looks at a flow from all sides; ``facts`` are those of the package if none are given."""
    steady = Steady(blueprint.flow)
    blasts = [
        Blast(p, policy_text(node.policy), tuple(steady.setbacks({p})))
        for p, node in blueprint.nodes.items()
    ]
    order = (ERROR, WARNING, NOTE)
    findings = sorted(findings_of(blueprint, steady, blasts), key=lambda f: order.index(f.severity))
    known = facts or measured()
    given = tuple(advice(blueprint, known)) if known else ()
    return Checked(
        blueprint.name,
        tuple(guarantees(blueprint)),
        tuple(findings),
        tuple(blasts),
        given,
        basis(known) if known and given else "",
    )


def basis(facts: Measured) -> str:
    """Where measured facts come from."""
    return (
        f"measured with {facts.work}, by falkirk {facts.falkirk} on {facts.machine}, {facts.date};"
        " ratios carry over better than times: falkirk bench matrix measures on your machine"
    )


def findings_of(blueprint: Blueprint, steady: Steady, blasts: list[Blast]) -> Iterator[Finding]:
    """Everything odd."""
    if not blueprint.sinks:
        yield Finding(
            WARNING, "C401", "", "", "nothing is written", "end a stream with .write(sink)"
        )
    for p, node in blueprint.nodes.items():
        yield from repeated(blueprint, p, node)
        yield from pointless(blueprint, p, node)
        yield from growing(blueprint, steady, p, node)
        yield from unread(blueprint, p, node)
        yield from unanswered(blueprint, p, node)
    yield from useless_logs(blueprint, blasts)
    yield from seldom(blueprint)


def found(severity: str, code: str, node: Node, words: str, step: str) -> Finding:
    """A finding about one processor."""
    return Finding(severity, code, node.name, node.location, words, step)


def repeated(blueprint: Blueprint, p: ProcessorId, node: Node) -> Iterator[Finding]:
    """C101 and C102: what is exact behind what is not."""
    guilty = sorted(loosened_by(blueprint, p) - {p})
    if not guilty or node.policy.tainted:
        return
    names = ", ".join(guilty)
    if p in blueprint.sinks:
        words = f"it writes every time once, but rows may come twice out of {names}"
        step = f"give {names} a policy that saves, or say at_least_once() here too"
        yield found(WARNING, "C101", node, words, step)
    elif not node.policy.stateless and node.processor is not None:
        words = f"it keeps state over what may come twice out of {names}: totals may be too large"
        step = f"give {names} a policy that saves, or see that repeated rows do no harm"
        yield found(WARNING, "C102", node, words, step)


def pointless(blueprint: Blueprint, p: ProcessorId, node: Node) -> Iterator[Finding]:
    """C201, C203 and C204: what is paid for and helps nobody."""
    regime = node.policy.regime
    if is_input(blueprint, p) and regime is Regime.BATCH and replayable(node):
        words = (
            f"{policy_text(node.policy)} writes every row of {node.kind}, which can be read again"
        )
        yield found(NOTE, "C201", node, words, "lazy() saves positions only")
    sinks = shown_by(blueprint, p)
    if not sinks and blueprint.sinks and p not in blueprint.flow.latest and node.kind != "Letters":
        yield found(WARNING, "C204", node, "nothing of it reaches a sink", "write it, or remove it")
    loose = sinks and all(blueprint.nodes[sink].policy.tainted for sink in sinks)
    if regime is Regime.EAGER and loose and p not in sinks:
        words = (
            "eager() waits for the disk before it sends, but all outputs behind are at least once"
        )
        yield found(WARNING, "C203", node, words, "lazy() is faster and as good here")


def growing(blueprint: Blueprint, steady: Steady, p: ProcessorId, node: Node) -> Iterator[Finding]:
    """C301 and C302: what is kept for ever."""
    kept = growth(node)
    if kept is not None:
        yield found(NOTE, "C301", node, kept.words, kept.next)
    if node.policy.tainted or blueprint.flow.restores_anywhere(p):
        return
    if steady.lag(p) is None:
        words = "its low-watermark never moves, so nothing of it is ever collected"
        yield found(
            WARNING, "C302", node, words, "see `explain` for who holds it, or log on its edges"
        )


def replayable(node: Node) -> bool:
    """Whether a source can be read again."""
    return bool(getattr(node.operator, "replayable", False))


def unread(blueprint: Blueprint, p: ProcessorId, node: Node) -> Iterator[Finding]:
    """C402: a source that gives its rows once."""
    if is_input(blueprint, p) and not replayable(node):
        words = f"{node.kind} cannot be read again: what was not logged yet is lost in a crash"
        yield found(
            NOTE, "C402", node, words, "its clients have to send again what was not answered"
        )


def unanswered(blueprint: Blueprint, p: ProcessorId, node: Node) -> Iterator[Finding]:
    """C403: answers that come from where nobody can tell that there will be none."""
    for sink in sorted(blueprint.answering.get(p, frozenset()) & behind_numbers(blueprint.flow)):
        words = (
            f"it answers {p} from behind windows, where nobody can tell that a request has no"
            " answer: such a request ends with 504 when its time is over"
        )
        step = "answer every request, or write the answers before in_sequence()"
        yield found(WARNING, "C403", blueprint.nodes[sink], words, step)


def useless_logs(blueprint: Blueprint, blasts: list[Blast]) -> Iterator[Finding]:
    """C202: logs without which nobody would do more again, whoever fails, but what is stateless."""
    flow = blueprint.flow
    usual = {blast.processor: set(blast.setbacks) for blast in blasts}
    for edge in flow.graph.edges.values():
        node = blueprint.nodes[edge.source]
        policy = flow.processors[edge.source].policy
        chosen = policy.regime is Regime.BATCH or edge.name in node.policy.log
        if not chosen or not flow.graph.inputs(edge.source):
            continue
        without = Steady(flow, {edge.name})
        more = {
            ProcessorId(setback.processor)
            for p in flow.processors
            for setback in set(without.setbacks({p})) - usual[p]
        }
        if all(flow.graph.inputs(p) and flow.processors[p].policy.stateless for p in more):
            words = (
                f"the log on {edge.name} costs a write each epoch, and whoever fails it saves only"
                f" what is stateless: {', '.join(sorted(more)) or 'nothing'}"
            )
            yield found(NOTE, "C202", node, words, "without it the work is done again instead")


def seldom(blueprint: Blueprint) -> Iterator[Finding]:
    """C303: intervals that meet much more seldom than each of them comes around."""
    nodes = [
        node
        for node in blueprint.nodes.values()
        if node.policy.every > 1 and not node.policy.clocked and not node.numbered
    ]
    intervals = sorted({node.policy.every for node in nodes})
    together: Any = lcm(*intervals) if intervals else 1
    if intervals and together > intervals[-1]:
        words = (
            f"checkpoints every {', '.join(map(str, intervals))} epochs meet every {together} only:"
            " so far back everybody may have to go"
        )
        yield found(WARNING, "C303", nodes[-1], words, "choose intervals that divide each other")
