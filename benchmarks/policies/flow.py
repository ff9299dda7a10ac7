"""The flow of the matrix: a running count by key, protected in many ways."""

import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np

import falkirk as fk
from benchmarks.inputs.draws import Draws

NOTHING, LOOSE = "nothing is saved", "at_least_once()"
LAZY, SELDOM = "lazy(every=1)", "lazy(every=10)"
EAGER, HISTORY = "eager()", "history()"
LOGGED = "batch() before lazy(every=10)"
COUNTS = "counts"


@dataclass(frozen=True)
class Way:
    """How a flow is protected: the policy of the count, and of the step before it.

    The outputs of an ``exact`` one are staged and shown once. What is not ``durable`` is not
    saved. A ``numbered`` one counts message by message, by sequence numbers.
    """

    policy: fk.Policy
    front: fk.Policy | None = None
    exact: bool = True
    durable: bool = True
    numbered: bool = False


WAYS = {
    NOTHING: Way(fk.at_least_once(), exact=False, durable=False),
    LOOSE: Way(fk.at_least_once(), exact=False),
    "lazy(every=30)": Way(fk.lazy(every=30)),
    SELDOM: Way(fk.lazy(every=10)),
    "lazy(every=3)": Way(fk.lazy(every=3)),
    LAZY: Way(fk.lazy()),
    EAGER: Way(fk.eager()),
    HISTORY: Way(fk.history()),
    LOGGED: Way(fk.lazy(every=10), front=fk.batch()),
    "numbered, lazy(every=10)": Way(fk.lazy(every=10), numbered=True),
    "numbered, snapshot(every=10)": Way(fk.snapshot(every=10), numbered=True),
}


class Tally(fk.Processor):
    """The running count over sequence numbers: each message is counted as it comes."""

    keys, merges = ("key",), (("count", "sum"),)

    def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
        """Keeps what a message adds, and sends the totals of its keys."""
        added = ctx.group(batch, self.keys, ["count(1) AS count"]).materialise()
        ctx.state.put(added)
        ctx.send(ctx.aggregate(ctx.state.visible(), self.keys, self.merges, touched=added))

    def consolidate(self, ctx: fk.Context, batches: list[fk.Batch]) -> fk.Batch:
        """Merges what several messages have added."""
        return ctx.aggregate(batches, self.keys, self.merges)


class Shown:
    """A sink that remembers when each epoch was shown first, and the newest count of each key."""

    def __init__(self, keys: int, exactly_once: bool) -> None:
        """Nothing was shown."""
        self.exactly_once = exactly_once
        self.at: dict[int, float] = {}
        self.counts = np.zeros(keys, dtype=np.int64)

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Shows one epoch."""
        table = batch.arrow()
        self.counts[table["key"].to_numpy()] = table["count"].to_numpy()
        self.at.setdefault(time[0], clock.monotonic())


def counting(source: Draws, way: Way, sink: Shown) -> fk.Dataflow:
    """The flow."""
    flow = fk.Dataflow("matrix")
    drawn = flow.read(source, name="draws").where("key >= 0", name="kept", policy=way.front)
    if way.numbered:
        counted = drawn.in_sequence(name="numbers").process(Tally(), name=COUNTS, policy=way.policy)
        counted.windows(count=1, name="windows").write(sink, name="shown")
    else:
        drawn.group_by("key").count(name=COUNTS, policy=way.policy).write(sink, name="shown")
    return flow
