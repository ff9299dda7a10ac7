"""Small flows for exhaustive exploration: a chain or a diamond, with a policy for everyone."""

from collections.abc import Sequence
from itertools import pairwise

from falkirk.core.domain import EPOCH
from falkirk.core.graph import Edge
from falkirk.core.machine.flow import Flow, Processor, Role
from falkirk.core.policy import Policy
from falkirk.core.projection import Identity
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.testing.logic import Items, Logic, Map, Stage, Sum
from falkirk.testing.world import Scenario


def chain(
    source: Policy, inner: Sequence[Policy], output: Policy, batches: Sequence[int] = (1,)
) -> Scenario:
    """An input, processors one after the other, an output; ``batches`` has a number for each epoch.

    The first inner processor adds up each epoch when it is complete, the others pass things on.
    """
    names = [ProcessorId(f"p{i}") for i in range(len(inner))]
    order = [ProcessorId("in0"), *names, ProcessorId("out0")]
    processors = [
        Processor(order[0], EPOCH, source, Role.INPUT),
        *(Processor(name, EPOCH, policy) for name, policy in zip(names, inner, strict=True)),
        Processor(order[-1], EPOCH, output, Role.OUTPUT),
    ]
    edges = [Edge(EdgeId(f"{a}>{b}"), a, b, Identity(EPOCH, EPOCH)) for a, b in pairwise(order)]
    logics: dict[ProcessorId, Logic] = {name: Map() for name in names[1:]}
    logics |= dict.fromkeys(names[:1], Sum()) | {order[-1]: Stage()}
    return Scenario(Flow(processors, edges), logics, {order[0]: numbered(batches)})


def diamond(
    source: Policy, left: Policy, right: Policy, output: Policy, batches: Sequence[int] = (1,)
) -> Scenario:
    """An input, two processors side by side, an output that hears both.

    One of the two adds up each epoch when it is complete, the other passes things on.
    """
    start, first, second, end = map(ProcessorId, ("in0", "p0", "p1", "out0"))
    processors = [
        Processor(start, EPOCH, source, Role.INPUT),
        Processor(first, EPOCH, left),
        Processor(second, EPOCH, right),
        Processor(end, EPOCH, output, Role.OUTPUT),
    ]
    ways = ((start, first), (start, second), (first, end), (second, end))
    edges = [Edge(EdgeId(f"{a}>{b}"), a, b, Identity(EPOCH, EPOCH)) for a, b in ways]
    logics: dict[ProcessorId, Logic] = {first: Sum(), second: Map(), end: Stage()}
    return Scenario(Flow(processors, edges), logics, {start: numbered(batches)})


def numbered(batches: Sequence[int]) -> list[list[Items]]:
    """So many batches in each epoch, each of one item."""
    return [[((f"{e}.{k}", 1, 0),) for k in range(n)] for e, n in enumerate(batches)]
