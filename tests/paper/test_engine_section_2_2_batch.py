"""§2.2 on the real machine: MapReduce, Dryad and Spark as one epoch with logged edges; Spark
Streaming.

Two readers feed a map each; both maps feed the left reducer and only ``map1`` the right one. All
sum up what they get and speak when it is complete.
"""

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of, values

from falkirk.core import EPOCH, DefinitionError
from falkirk.core.policy import Policy, batch, ephemeral
from falkirk.testing.logic import Buffer, Map, Stage, Sum

ALL, NOTHING, ZERO = upto(0), EPOCH.empty, (0,)
TOP = EPOCH.top


def job(maps: Policy | None = None) -> Story:
    """A job whose maps log what they send, unless told otherwise."""
    policy = maps or batch()
    flow = flow_of(
        {
            "in1": ephemeral(),
            "in2": ephemeral(),
            "map1": policy,
            "map2": policy,
            "left": batch(),
            "right": batch(),
            "lout": ephemeral(),
            "rout": ephemeral(),
        },
        outputs=("lout", "rout"),
        a="in1 > map1",
        b="in2 > map2",
        c="map1 > left",
        d="map2 > left",
        e="map1 > right",
        f="left > lout",
        g="right > rout",
    )
    logics = {"map1": Sum(), "map2": Sum(), "left": Sum(), "right": Sum()}
    story = Story(flow, **logics, lout=Stage(), rout=Stage())
    story.ingest("in1", 1, 2)
    story.ingest("in1", 3)
    story.ingest("in2", 10)
    story.end("in1", "in2")
    return story


def results(story: Story) -> dict[str, list[int]]:
    return {p: values(shown[ZERO]) for p, shown in story.shown.items()}


RESULTS = {"lout": [16], "rout": [6]}


def test_each_processor_reads_all_its_input_then_writes_and_empties_its_state() -> None:
    """§2.2: "Each processor reads all of its inputs then implicitly receives a notification that
    the input is complete, writes its outputs, empties its state, and quiesces. We can think of all
    inputs and messages as being in a single epoch 0".
    """
    story = job()
    story.deliver("map1", "a", ZERO)
    assert not story.can_notify("map1", ZERO), "one more message waits"
    assert story.queued("c") == []
    story.deliver("map1", "a", ZERO)
    story.notify("map1", ZERO)
    assert story.queued("c") == story.queued("e") == [ZERO]
    assert story.state("map1") == {}
    story.settle()
    assert results(story) == RESULTS
    assert not any(story.state(p) for p in ("map1", "map2", "left", "right"))
    assert not story.enabled()


def test_a_failed_processor_whose_output_is_persisted_keeps_everything() -> None:
    """§2.2: "restore each failed processor either to the state where it has processed no events, or
    where it has processed all events, based on a global function of which sent messages have been
    persisted".
    """
    story = job()
    story.work("map1", "map2")
    story.persist_all()
    story.work("left", "right")
    plan = story.fail("map1")
    assert plan["map1"] == ALL
    assert {f for p, f in plan.items() if p != "map1"} == {TOP}
    story.chapter()
    story.settle()
    assert "map1" not in dict(story.chapter()), "it is not run again"
    assert results(story) == RESULTS


def test_a_failed_processor_whose_output_is_lost_restarts_from_nothing() -> None:
    """§2.2: "On the other hand, any work in progress at the time of a failure is lost and must be
    redone".
    """
    story = job()
    story.work("map1", "map2")
    plan = story.fail("map1")
    assert plan["map1"] == plan["in1"] == NOTHING, "and its input is read again"
    assert plan["map2"] == plan["in2"] == TOP
    story.chapter()
    story.settle()
    assert "map2" not in dict(story.chapter())
    assert results(story) == RESULTS


def test_those_that_consumed_from_a_restored_processor_are_interrupted_and_no_others() -> None:
    """§2.2: "Non-failed processors need only be interrupted if they have consumed messages from
    processors that were restored to the empty state".
    """
    story = job()
    story.work("map1", "map2")
    story.deliver("left", "c", ZERO)
    plan = story.fail("map1")
    assert plan["left"] == NOTHING, "it has consumed"
    assert plan["right"] == TOP, "it has not"
    story.settle()
    assert results(story) == RESULTS


def test_a_reducer_that_fails_reads_the_logs_again() -> None:
    """§2.2: "processors are always restored to an empty state after failure"."""
    story = job()
    story.work("map1", "map2")
    story.persist_all("map1", "map2")
    story.deliver("left", "c", ZERO)
    plan = story.fail("left")
    assert plan["left"] == NOTHING
    assert {f for p, f in plan.items() if p != "left"} == {TOP}
    assert story.state("left") == {}
    assert story.queued("c") == story.queued("d") == [ZERO]
    story.chapter()
    story.settle()
    assert {p for p, _ in story.chapter()} == {"left", "right", "lout", "rout"}
    assert results(story) == RESULTS


def test_without_logs_a_failure_at_the_end_goes_back_to_the_inputs() -> None:
    """§2.2: "Each system design specifies a subset of the edges in the dataflow and persists the
    messages sent on those edges": here none.
    """
    story = job(maps=ephemeral())
    story.work("map1", "map2", "left")
    plan = story.fail("left")
    assert {p for p, f in plan.items() if f == NOTHING} >= {"in1", "in2", "map1", "map2", "left"}
    story.settle()
    assert results(story) == RESULTS


@pytest.mark.parametrize("failed", ["in1", "map1", "left", "right", "lout", "rout"])
@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("stage", range(4))
def test_the_job_ends_with_the_same_results(failed: str, durable: bool, stage: int) -> None:
    story = job()
    for names in (("map1", "map2"), ("left", "right"), ("lout", "rout"))[:stage]:
        story.work(*names)
    if durable:
        story.persist_all()
    story.fail(failed)
    story.settle()
    assert results(story) == RESULTS


def streaming() -> Story:
    """Spark Streaming: the same kind of job, epoch after epoch."""
    flow = flow_of(
        {"in": ephemeral(), "map": ephemeral(), "shuffle": batch(), "out": ephemeral()},
        outputs=["out"],
        a="in > map",
        b="map > shuffle",
        c="shuffle > out",
    )
    return Story(flow, map=Map(1), shuffle=Sum(), out=Stage())


def test_spark_streaming_takes_an_epoch_after_the_other_and_keeps_nothing_between() -> None:
    """§2.2: "Spark Streaming, allows each processor to accept messages at an epoch t+1 after the
    messages at epoch t have been fully processed" … "it does not let processors retain internal
    state between logical times".
    """
    story = streaming()
    for epoch in range(5):
        story.ingest("in", epoch, 10)
        story.close("in")
        if epoch == 3:
            story.deliver("map", "a", (3,))
            plan = story.fail("shuffle")
            assert plan["shuffle"] == upto(2), "earlier epochs are done"
            assert plan["out"] == TOP
            story.chapter()
        story.settle()
        assert not story.state("map")
        assert not story.state("shuffle")
        if epoch == 3:
            assert {time for _, time in story.chapter()} == {(3,)}
    shown = [values(story.shown["out"][epoch,]) for epoch in range(5)]
    assert shown == [[epoch + 12] for epoch in range(5)]


def test_state_between_logical_times_is_refused() -> None:
    """§2.2: "it does not let processors retain internal state between logical times"."""
    flow = flow_of(
        {"in": ephemeral(), "keeps": batch(), "out": ephemeral()},
        outputs=["out"],
        a="in > keeps",
        b="keeps > out",
    )
    story = Story(flow, keeps=Buffer(), out=Stage())
    story.ingest("in", 1)
    story.close("in")
    with pytest.raises(DefinitionError, match="keeps state after its time"):
        story.work()
