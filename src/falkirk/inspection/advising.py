"""What another policy would cost and save, by measured facts and by the solver."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from falkirk.core.machine.flow import Flow, Role
from falkirk.core.policy import Policy, Regime, eager, lazy
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.explanation import policy_text
from falkirk.dataflow.node import Node
from falkirk.inspection.measured import Fact, Measured
from falkirk.inspection.steady import Steady
from falkirk.inspection.words import several

SAME = 0.05
"""Costs that differ by less are told to be about the same."""

SELDOM = 10


@dataclass(frozen=True, slots=True)
class Advice:
    """How a policy compares with another: ``cost`` is times that of the other one's epoch.

    ``again`` and ``again_instead`` are how many epochs are done again at most.
    """

    processor: str
    policy: str
    instead: str
    cost: float
    again: int
    again_instead: int
    location: str
    words: str


def advice(blueprint: Blueprint, facts: Measured) -> Iterator[Advice]:
    """For each processor that keeps state from epoch to epoch, one other policy."""
    for p, node in blueprint.nodes.items():
        policy = blueprint.flow.processors[p].policy
        instead = alternative(policy) if weighed(node) else None
        own = facts.fact(policy)
        other = facts.fact(instead) if instead is not None else None
        if instead is None or own is None or other is None:
            continue
        again = redone(blueprint.flow, p)
        again_instead = redone(with_policy(blueprint.flow, p, instead), p)
        names = (
            policy_text(replace(policy, log=frozenset())),
            policy_text(replace(instead, log=frozenset())),
        )
        yield Advice(
            p,
            names[0],
            names[1],
            round(own.cost / other.cost, 2),
            again,
            again_instead,
            node.location,
            sentence(names, own, other, again, again_instead),
        )


def weighed(node: Node) -> bool:
    """Whether there is anything to choose: state over epochs, which a policy saves."""
    regimes = (Regime.LAZY, Regime.EAGER, Regime.HISTORY)
    inner = node.role is Role.INNER and node.processor is not None and not node.processor.stateless
    return inner and node.policy.regime in regimes and not node.numbered and node.depth == 1


def alternative(policy: Policy) -> Policy:
    """What else might do: seldom for what saves at once, at once for what saves seldom."""
    often = policy.regime is not Regime.LAZY or policy.every == 1
    if policy.regime is Regime.HISTORY:
        other = lazy()
    elif often:
        other = lazy(every=SELDOM)
    else:
        other = eager()
    return replace(other, log=policy.log, aside=policy.aside)


def with_policy(flow: Flow, p: ProcessorId, policy: Policy) -> Flow:
    """The same flow with another policy for ``p``."""
    processors = {**flow.processors, p: replace(flow.processors[p], policy=policy)}
    return Flow(processors.values(), flow.graph.edges.values(), flow.latest.values())


def redone(flow: Flow, p: ProcessorId) -> int:
    """How many epochs ``p`` does again at most when it fails."""
    found = [each.epochs for each in Steady(flow).setbacks({p}) if each.processor == p]
    return found[0] if found else 0


def sentence(names: tuple[str, str], own: Fact, other: Fact, again: int, again_instead: int) -> str:
    """The comparison in words."""
    ratio = own.cost / other.cost
    about = "about as much as" if abs(ratio - 1) <= SAME else f"about {ratio:.1f}× of"
    if f"{ratio:.1f}" == "1.0" and abs(ratio - 1) > SAME:
        about = f"about {ratio:.2f}× of"
    words = f"{names[0]} costs {about} {names[1]}"
    if again < again_instead:
        words += f", and saves up to {several(again_instead - again, 'epoch')} of doing again"
    elif again > again_instead:
        words += f", and does up to {several(again - again_instead, 'epoch')} more again"
    if own.latency_ms and other.latency_ms:
        words += f"; results after {shown(own.latency_ms)} instead of {shown(other.latency_ms)}"
    return words


def shown(ms: float) -> str:
    """Milliseconds in words.

    >>> shown(140), shown(1234)
    ('140 ms', '1.2 s')
    """
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1e3:.1f} s"
