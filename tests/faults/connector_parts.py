"""Any source, policies and sinks make a flow to be killed, and a judgement of what is outside."""

from collections.abc import Collection, Iterable
from typing import Any

from tests.faults.connector_sinks import SINKS
from tests.faults.connector_snapshots import cut
from tests.faults.connector_sources import SOURCES
from tests.faults.connector_world import KEYS, World

import falkirk as fk

POLICIES: dict[str, tuple[Any, Any]] = {
    "lazy": (fk.ephemeral(), fk.lazy(every=2)),
    "eager": (fk.ephemeral(), fk.eager()),
    "history": (fk.batch(), fk.history()),
    "batch": (fk.batch(), fk.lazy()),
    "snapshot": (fk.ephemeral(), fk.lazy()),
}
"""Of whoever has no state, and of whoever has; snapshots are taken before either."""

Branch = tuple[str, str]
"""A policy and a sink."""


def flow_of(world: World, source: str, branches: Collection[Branch], struck: Any) -> fk.Dataflow:
    """One source, and for each branch a stateful step under a policy, and a sink."""
    part = SOURCES[source]
    flow = fk.Dataflow("connected")
    read = flow.read(struck(part.make(world)), name="numbers", limit=part.limit)
    passed = cut(read) if any(policy == "snapshot" for policy, _ in branches) else read
    for policy, sink in branches:
        stateless, stateful = POLICIES[policy]
        stream = passed if policy == "snapshot" else read
        keyed = stream.select(
            f"value % {KEYS} AS k", "value", name=f"{sink}-keyed", policy=stateless
        )
        SINKS[sink].write(world, keyed, sink, stateful, struck)
    return flow


def judge(world: World, source: str, branches: Iterable[Branch]) -> list[str]:
    """Everything that is wrong with what is outside, in the words of whoever has it."""
    wrong = [
        f"{source}: {left} were not acknowledged, or are dead letters that are missing or twice"
        for left in [SOURCES[source].left(world)]
        if left
    ]
    for _, sink in branches:
        shown, expected = SINKS[sink].shown(world, sink), SINKS[sink].expected()
        if shown != expected:
            lost, more = expected - shown, shown - expected
            wrong.append(f"{sink}: lost {dict(lost)}, too many {dict(more)}")
    return wrong
