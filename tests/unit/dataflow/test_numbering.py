"""Building sequences: which times streams have, which policies, and what is logged."""

from tests.unit.dataflow.ends import Sink, Source
from tests.unit.dataflow.test_building import Keeper, Two

import falkirk as fk


def test_policies_of_a_sequence() -> None:
    flow = fk.Dataflow("sequence")
    start = flow.read(Source(), name="in")
    numbered = start.in_sequence()
    kept = numbered.where("a").process(Keeper())
    kept.windows(count=2, name="two")
    kept.windows(Keeper(), name="own")
    with flow.policy(fk.snapshot(every=5, region="left")):
        start.in_sequence(name="region-in").where("a", name="region").windows(
            count=2, name="region-out"
        )
    with flow.policy(fk.batch()):
        start.in_sequence(name="batches")
    found = {name: node.policy for name, node in flow.build().nodes.items()}
    assert found == {
        "in": fk.lazy(),
        "in_sequence": fk.lazy(),
        "where": fk.ephemeral(),
        "keeper": fk.lazy(),
        "two": fk.batch(),
        "own": fk.lazy(),
        "region-in": fk.lazy(),
        "region": fk.snapshot(every=5, region="left"),
        "region-out": fk.snapshot(every=5, region="left"),
        "batches": fk.batch(),
    }


def test_streams_know_their_times() -> None:
    start = fk.Dataflow("times").read(Source(), name="in")
    numbered = start.in_sequence()
    assert [s.numbered for s in (start, numbered, numbered.where("a"))] == [False, True, True]
    assert not numbered.windows(count=2).numbered
    assert numbered.process(Two()).port(1).numbered
    assert not numbered.windows(Two()).port(1).numbered


def test_what_goes_into_a_window_is_logged_whatever_the_policy() -> None:
    flow = fk.Dataflow("logged")
    numbered = flow.read(Source(), name="in").in_sequence()
    numbered.windows(count=2, name="lazy", policy=fk.lazy()).write(Sink(), name="out")
    numbered.windows(count=2, name="eager", policy=fk.eager()).write(Sink(), name="other")
    built = flow.build()
    assert built.flow.processors["lazy"].policy == fk.lazy().logging("lazy>out")  # type: ignore[index, arg-type]
    assert built.flow.processors["eager"].policy == fk.eager()  # type: ignore[index]
    assert built.nodes["lazy"].policy == fk.lazy()  # type: ignore[index]
