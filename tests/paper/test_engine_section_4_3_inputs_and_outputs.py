"""§4.3 on the real machine: acknowledgement of inputs, and outputs that are exactly once."""

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of, values

from falkirk.core import EPOCH
from falkirk.core.machine.events import Acknowledge, Release
from falkirk.core.policy import Policy, batch, eager, ephemeral, lazy
from falkirk.testing.logic import Map, Stage, Total

TOP, NOTHING = EPOCH.top, EPOCH.empty


def pipeline(middle: Policy, stateful: bool = False) -> Story:
    """in → middle → out."""
    flow = flow_of(
        {"in": ephemeral(), "middle": middle, "out": lazy()},
        outputs=["out"],
        a="in > middle",
        b="middle > out",
    )
    return Story(flow, middle=Total() if stateful else Map(1), out=Stage())


def test_a_stateless_pipeline_acknowledges_inputs_once_outputs_are_consumed() -> None:
    """§4.3: "We can use this mechanism to construct a stateless pipeline in which input records are
    only acknowledged once outputs have been consumed".

    An output stages a time durably before it is handed out; that is where the records are safe.
    """
    story = pipeline(ephemeral())
    story.ingest("in", 1)
    story.close("in")
    story.persist_all("in")
    assert story.acknowledged == {}, "read"
    story.work()
    assert story.acknowledged == {}, "processed"
    story.persist_all("in", "out")
    assert story.acknowledged == {"in": upto(0)}, "safe with the output"
    assert [type(e) for e in story.effects if isinstance(e, Release | Acknowledge)] == [
        Release,
        Acknowledge,
    ]


def test_until_then_the_input_must_be_read_again() -> None:
    """§4.3: "the service will keep a batch of data available, and re-send if requested, until the
    batch has been acknowledged".
    """
    story = pipeline(ephemeral())
    story.ingest("in", 1)
    story.close("in")
    story.work()
    assert story.crash() == dict.fromkeys(("in", "middle", "out"), NOTHING)
    story.settle()
    assert story.acknowledged == {"in": upto(0)}
    story.crash()
    story.settle()
    assert values(story.shown["out"][0,]) == [2], "and no longer after it: the driver would refuse"


@pytest.mark.parametrize("policy", [lazy().logging("b"), eager(), batch()])
def test_persistent_state_decouples_input_receipt_from_output(policy: Policy) -> None:
    """§4.3: "or by adding persistent state in the pipeline we can decouple input receipt from
    output acknowledgement".
    """
    story = pipeline(policy, stateful=policy != batch())
    for epoch in range(3):
        story.ingest("in", epoch)
        story.close("in")
        story.work("middle")
        story.persist_all("in", "middle")
        assert story.acknowledged == {"in": upto(epoch)}
    assert story.watermark("out") == NOTHING, "it has not even looked"
    assert story.crash() == {"in": upto(2), "middle": upto(2), "out": NOTHING}
    story.settle()
    shown = [values(story.shown["out"][epoch,]) for epoch in range(3)]
    assert shown == ([[1], [2], [3]] if policy == batch() else [[0], [1], [3]])


def test_an_output_is_released_only_inside_its_own_low_watermark() -> None:
    """§4.3 has an output tell the monitor once the outside has acknowledged. Ours stages a time
    durably, tells the monitor, and hands it out when the time lies in the low-watermark: before
    that a rollback upstream could still contradict it.
    """
    story = pipeline(lazy(), stateful=True)
    story.ingest("in", 1)
    story.close("in")
    story.work()
    story.persist_all("out")
    assert story.offered == [], "staged, but middle and in could still do it over"
    story.persist_all("middle")
    assert story.offered == []
    story.persist_all("in")
    assert [(r.processor, r.time) for r in story.offered] == [("out", (0,))]
    assert story.watermark("out") == upto(0)


def test_a_release_that_was_not_taken_is_released_again() -> None:
    """§4.3: "we must be willing to re-send a batch of data multiple times until it is acknowledged
    by the recipient".
    """
    story = pipeline(ephemeral())
    story.ingest("in", 1)
    story.close("in")
    story.work()
    story.persist_all()
    (first,) = story.offered
    for _ in range(3):
        story.crash()
        (again,) = story.offered
        assert (again.time, again.batches) == (first.time, first.batches)
    story.settle()
    assert story.shown == {"out": {(0,): first.batches}}
    story.crash()
    assert story.offered == [], "it was taken"


def test_when_an_output_fails_what_it_has_staged_is_safe() -> None:
    story = pipeline(ephemeral())
    story.ingest("in", 1)
    story.close("in")
    story.work()
    story.persist_all()
    (first,) = story.offered
    plan = story.fail("out")
    assert (plan["in"], plan["out"]) == (TOP, upto(0))
    story.chapter()
    story.settle()
    assert story.shown == {"out": {(0,): first.batches}}
    assert story.chapter() == []


def test_what_was_shown_is_never_contradicted() -> None:
    """§4.3 with §3.5: "external effects indistinguishable from" a system without failures.

    ``Fresh`` gives another value every time it is run, so a time that is run again after it was
    shown would show (the driver compares what it is given twice).
    """

    class Fresh(Map):
        runs = 0

        def on_message(self, context, edge, items):  # type: ignore[no-untyped-def]
            Fresh.runs += 1
            return Map(1000 * Fresh.runs).on_message(context, edge, items)

    steps = ("work", "persist_all", "take_outputs")
    for failed in (["in"], ["middle"], ["out"], ["middle", "out"], []):
        for moment in range(1, 10):
            story = pipeline(ephemeral())
            story.logics["middle"] = Fresh()
            for epoch in range(3):
                story.ingest("in", epoch)
                story.close("in")
            for index in range(moment):
                getattr(story, steps[index % 3])()
            if failed:
                story.fail(*failed)
            else:
                story.crash()
            story.settle()
            assert sorted(story.shown["out"]) == [(0,), (1,), (2,)]


def test_the_state_of_an_output_goes_when_the_outside_has_it() -> None:
    """§4.3: "at which point the rest of the system may discard state that would be needed to
    regenerate those output records".
    """
    story = pipeline(ephemeral())
    story.ingest("in", 1)
    story.close("in")
    story.work()
    story.persist_all()
    assert story.state("out") == {(0,): [2]}, "kept until it was taken"
    story.take_outputs()
    assert story.state("out") == {}
    assert story.store.ledgers["out"].records == {}
