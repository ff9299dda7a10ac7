"""Small flows for exhaustive exploration: a chain, with a policy for every processor."""

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
    inputs: list[list[Items]] = [
        [((f"{e}.{k}", 1, 0),) for k in range(n)] for e, n in enumerate(batches)
    ]
    return Scenario(Flow(processors, edges), logics, {order[0]: inputs})
