"""Failures leave no trace in what the built-in operators show to the outside."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from tests.scale import scaled
from tests.unit.dataflow.ends import Sink, Source
from tests.unit.dataflow.frames import Frame
from tests.unit.dataflow.running import Run
from tests.unit.dataflow.test_running import frame

import falkirk as fk
from falkirk.core.policy import Policy
from falkirk.dataflow import Dataflow, Stream

SEEDS = range(scaled(15))


def joins(how: str) -> Dataflow:
    """A join behind a firewall and a source that cannot be read again."""
    flow = fk.Dataflow("joins")
    left = flow.read(Source(), name="left")
    right = flow.read(Source(replayable=False), name="right")
    both = left.union(left.transform(lambda rows: rows), policy=fk.batch())
    both.join(right, on="k", how=how).write(Sink(), name="out")
    return flow


def totals(policy: Policy) -> Dataflow:
    """Running totals."""
    flow = fk.Dataflow("totals")
    left = flow.read(Source(), name="left")
    left.union(left.where("n")).group_by("k").agg(
        total="sum(n)", mean="avg(n)", policy=policy
    ).write(Sink(), name="out")
    return flow


def loops(order: str) -> Dataflow:
    """A loop that follows links from outside."""
    flow = fk.Dataflow("loops")
    left, links = flow.read(Source(), name="left"), flow.read(Source(), name="links")

    def follow(inner: Stream) -> tuple[Stream, Stream]:
        found = inner.join(links, on="k").select("to AS k")
        return found, found.union(inner)

    reached = left.select("k").iterate(follow, order=order, rounds=4)
    reached.group_by("k").count().write(Sink(), name="out")
    return flow


FLOWS: dict[str, Callable[[], Dataflow]] = {
    **{f"{how} join": partial(joins, how) for how in ("inner", "left", "full", "anti")},
    **{f"{each.regime.value} totals": partial(totals, each) for each in (fk.lazy(2), fk.eager())},
    **{f"{order} loop": partial(loops, order) for order in ("lex", "product")},
}


EPOCHS: dict[str, Sequence[Frame | None]] = {
    "left": [
        frame("k n", (1, 3), (2, 1)),
        frame("k n"),
        frame("k n", (3, 2)),
        frame("k n", (1, 1)),
    ],
    "right": [frame("k b", (1, "p")), None, frame("k b", (3, "q"))],
    "links": [frame("k to", (1, 2), (2, 3)), frame("k to", (3, 4)), frame("k to", (3, 5), (5, 6))],
}


@pytest.mark.parametrize("name", FLOWS)
def test_what_is_shown_is_what_a_run_without_failures_shows(name: str) -> None:
    blueprint = FLOWS[name]().build()
    epochs = {source: EPOCHS[source] for source in blueprint.sources}
    calm = Run(blueprint, epochs).shown
    assert calm["out"]
    for seed in SEEDS:
        assert Run(blueprint, epochs, seed, failures=3).shown == calm, f"seed {seed}"


@pytest.mark.parametrize("seed", SEEDS)
def test_an_answer_that_was_shown_is_never_contradicted(seed: int) -> None:
    flow = fk.Dataflow("latest")
    model = flow.read(Source(), name="model")
    fast = flow.read(Source(), name="fast")
    fast.join_latest(model, on="k").write(Sink(), name="out")
    versions = [frame("k v", (1, version)) for version in range(3)]
    run = Run(flow.build(), {"fast": [frame("k", (1,))] * 5, "model": versions}, seed, failures=4)
    seen = [row["v"] for _, rows in sorted(run.shown["out"].items()) for row in rows]
    assert seen == sorted(seen)
