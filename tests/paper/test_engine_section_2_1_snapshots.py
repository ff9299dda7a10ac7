"""§2.1 on the real machine: distributed snapshots over a region, with its messages in flight.

Two processors exchange messages; both take their snapshots at one cut.
"""

from dataclasses import dataclass

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core import EPOCH, Sequence, SequenceFrontier, SequenceNumber
from falkirk.core.machine.events import Result
from falkirk.core.policy import batch, snapshot
from falkirk.testing.logic import Context, Items

NUMBERS = Sequence()


def nth(edge: str, number: int) -> SequenceNumber:
    return SequenceNumber(edge, number)


def region(every: int = 3) -> Story:
    """p and q get messages from outside and from each other, and take snapshots together."""
    flow = flow_of(
        {"left": batch(), "right": batch(), "p": snapshot(every), "q": snapshot(every)},
        domains={"p": NUMBERS, "q": NUMBERS},
        a="left > p",
        b="right > q",
        c="p > q",
        d="q > p",
    )
    return Story(flow, p=Courier("c"), q=Courier("d"))


@dataclass(frozen=True)
class Courier:
    """Records everything, and passes on what came from outside."""

    out: str

    def on_message(self, context: Context, edge: str, items: Items) -> Result:
        fresh = edge in ("a", "b")
        sends = ((self.out, None, items),) if fresh else ()
        return Result(sends, state=(*context.own, *items))

    def on_notify(self, context: Context) -> Result:
        return Result()


def test_a_snapshot_has_a_checkpoint_of_each_and_the_undelivered_messages() -> None:
    """§2.1: the checkpoint "also includes a sequence of undelivered messages M_e on each channel e.
    The design of the algorithm ensures that the chosen {C_p},{M_e} form a consistent global system
    state".
    """
    story = region()
    for value in (1, 2, 3):
        story.ingest("left", value)
    story.ingest("right", 10)
    story.deliver("p", "a", nth("a", 1))
    story.deliver("p", "a", nth("a", 2))
    assert story.asked == []
    story.deliver("q", "c", nth("c", 1))
    cut = {persist.processor: persist for persist in story.asked if persist.processor in "pq"}
    assert cut["p"].checkpoint.frontier == SequenceFrontier({"a": 2})
    assert cut["q"].checkpoint.frontier == SequenceFrontier({"c": 1})
    in_flight = [message.time for record in cut["p"].records for message in record.sent]
    assert in_flight == [nth("c", 2)]


def test_after_a_failure_all_of_the_region_goes_back_to_its_last_snapshot() -> None:
    """§2.1: "Following a failure the system is restored to the state at the most recently saved
    checkpoint" … "in general all processes, even non-failed ones, must roll back".
    """
    story = region()
    for value in (1, 2, 3):
        story.ingest("left", value)
    story.deliver("p", "a", nth("a", 1))
    story.deliver("p", "a", nth("a", 2))
    story.deliver("q", "c", nth("c", 1))
    story.persist_all()
    story.deliver("p", "a", nth("a", 3))
    story.deliver("q", "c", nth("c", 2))
    plan = story.fail("q")
    assert plan["p"] == SequenceFrontier({"a": 2})
    assert plan["q"] == SequenceFrontier({"c": 1})
    assert plan["left"] == plan["right"] == EPOCH.top
    assert story.queued("c") == [nth("c", 2)], "the message in flight is back on its channel"
    assert story.queued("a") == [nth("a", 3)]
    story.settle()
    assert (story.whole_state("p"), story.whole_state("q")) == ([1, 2, 3], [1, 2, 3])


@pytest.mark.parametrize("failed", ["left", "p", "q", "everything"])
def test_snapshots_lose_and_repeat_nothing(failed: str) -> None:
    for steps in range(14):
        story = region()
        for value in (1, 2, 3):
            story.ingest("left", value)
        story.ingest("right", 10)
        for _ in range(steps):
            story.one_step()
        story.persist_all()
        story.one_step()
        if failed == "everything":
            story.crash()
        else:
            story.fail(failed)
        story.close("left", "right")
        story.settle()
        assert story.whole_state("p") == story.whole_state("q") == [1, 2, 3, 10], steps
