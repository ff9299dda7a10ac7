"""Which frontiers are saved, and when: neighbours share some, whatever their intervals."""

from typing import Any

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core import Order, ProductFrontier, Sequence, SequenceFrontier, Structured
from falkirk.core.frontier import TotalFrontier
from falkirk.core.machine.alignment import next_on_grid, on_grid
from falkirk.core.machine.boundary import boundary, whole_epochs
from falkirk.core.policy import Policy, batch, lazy, snapshot
from falkirk.core.times import INF
from falkirk.testing.crossing import Account, Forward, Turn
from falkirk.testing.logic import Buffer, Map


def saved(story: Story, p: str) -> list[Any]:
    """The last epochs of the checkpoints of ``p``."""
    return [whole_epochs(persist.checkpoint.frontier) for persist in story.saved(p)]


def chain(**policies: Policy) -> Story:
    flow = flow_of({"in": batch(), **policies}, a="in > p", b="p > q")
    return Story(flow, p=Map(0), q=Buffer())


def close(story: Story, epochs: int) -> None:
    for epoch in range(epochs):
        story.ingest("in", epoch)
        story.close("in")


def test_whole_epochs() -> None:
    assert whole_epochs(TotalFrontier()) == -1
    assert whole_epochs(TotalFrontier((3,))) == 3
    assert whole_epochs(TotalFrontier((0, 2))) == -1
    assert whole_epochs(ProductFrontier([(1, INF), (4, 2)])) == 1
    for order in Order:
        assert whole_epochs(boundary(Structured(3, order), 2)) == 2


def test_the_grid_of_an_interval() -> None:
    for every in range(1, 6):
        for epoch in range(-1, 12):
            following = next_on_grid(epoch, every)
            assert epoch < following <= epoch + every
            assert (following + 1) % every == 0


def test_every_boundary_is_saved_even_if_several_are_complete_at_once() -> None:
    story = chain(p=lazy(2), q=lazy(3))
    close(story, 12)
    assert saved(story, "in") == list(range(12))
    story.work()
    assert saved(story, "p") == [1, 3, 5, 7, 9, 11]
    assert saved(story, "q") == [2, 5, 8, 11]
    story.persist_all()
    assert story.watermark("p") == story.watermark("q") == TotalFrontier((11,))


def test_after_a_rollback_the_grid_is_the_same() -> None:
    story = chain(p=lazy(3), q=lazy(3))
    close(story, 4)
    story.work()
    story.persist_all()
    story.fail("p", "q", "in")
    story.settle()
    close(story, 5)
    story.work()
    assert {2, 5, 8} <= set(saved(story, "p"))


def test_by_the_clock_those_come_together_who_are_due_at_different_times() -> None:
    story = chain(p=lazy(seconds=10), q=lazy(seconds=15))
    for now in range(1, 90):
        close(story, 1)
        story.work()
        story.tick(float(now))
        story.persist_all()
    shared = set(saved(story, "p")) & set(saved(story, "q"))
    assert len(shared) >= 4
    assert set(saved(story, "q")) <= set(saved(story, "p")), "q saves what p has saved"
    assert story.watermark("q") == TotalFrontier((max(shared),))
    assert all(len(cuts) <= 3 for cuts in story.machine.state.cuts.values())


def test_the_clock_and_a_count_come_together() -> None:
    story = chain(p=lazy(4), q=lazy(seconds=10))
    for now in range(1, 60):
        close(story, 1)
        story.work()
        story.tick(float(now))
        story.persist_all()
    assert set(saved(story, "q")) <= set(saved(story, "p"))
    assert story.watermark("q") >= TotalFrontier((43,))


@pytest.mark.parametrize("order", list(Order))
def test_inside_a_loop_parts_and_boundaries_are_saved(order: Order) -> None:
    flow = flow_of(
        {"in": batch(), "body": lazy(round_seconds=0), "out": lazy()},
        domains={"body": Structured(2, order)},
        enter="in > body by enter",
        around="body > body by feedback",
        leave="body > out by leave",
    )
    story = Story(flow, body=Turn("around"), out=Buffer())
    for _ in range(3):
        story.ingest("in", 2)
        story.close("in")
    story.work()
    frontiers = [persist.checkpoint.frontier for persist in story.saved("body")]
    for epoch in range(3):
        assert boundary(Structured(2, order), epoch) in frontiers
    assert len(frontiers) > 3


def test_a_checkpoint_appoints_one_behind_a_bridge() -> None:
    """The sender discards, and the receiver counts: it saves at just what the sender fixes."""
    flow = flow_of(
        {"in": batch(), "there": lazy(2), "count": lazy(100)},
        domains={"count": Sequence()},
        a="in > there",
        b="there > count",
    )
    story = Story(flow, there=Forward(), count=Account())
    close(story, 6)
    story.work()
    counts = [persist.checkpoint.frontier for persist in story.saved("count")]
    assert counts == [SequenceFrontier({"b": n}) for n in (2, 4, 6)]
    story.persist_all()
    assert story.watermark("count") == SequenceFrontier({"b": 6})
    assert story.machine.state.markers == {"b": []}


def test_a_region_is_appointed_as_a_whole() -> None:
    flow = flow_of(
        {"in": batch(), "there": lazy(2), "x": snapshot(100), "y": snapshot(100)},
        domains={"x": Sequence(), "y": Sequence()},
        a="in > there",
        b="there > x",
        c="x > y",
    )
    story = Story(flow, there=Forward(), x=Account(), y=Account())
    close(story, 6)
    story.work()
    story.persist_all()
    assert story.watermark("x") == SequenceFrontier({"b": 6})


def test_of_very_many_boundaries_only_some_are_saved() -> None:
    """An input that ends late completes thousands of epochs at once, and others have them all."""
    for saved_epoch, complete, every in ((-1, 5_000, 1), (-1, 5_000, 3), (17, 130, 1), (5, 9, 7)):
        epochs = on_grid(saved_epoch, complete, every)
        everyone = set(range(next_on_grid(saved_epoch, every), complete + 1, every))
        assert len(epochs) <= 64
        assert epochs == sorted(set(epochs))
        assert set(epochs) <= everyone
        assert max(epochs, default=None) == max(everyone, default=None)
