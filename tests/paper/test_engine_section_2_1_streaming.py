"""§2.1 on the real machine: exactly-once and at-least-once streaming, distributed snapshots.

The messages of ``in`` are counted by ``count``, which keeps a running total, and passed on by
``ledger`` to the outside. Both are eager: they persist, then release.
"""

from dataclasses import dataclass

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of, values

from falkirk.core import EPOCH, Sequence, SequenceFrontier, SequenceNumber
from falkirk.core.machine.events import Result
from falkirk.core.policy import at_least_once, batch, eager, lazy
from falkirk.testing.logic import Buffer, Context, Items, Map, Stage, Sum

NUMBERS = Sequence()
TOP = NUMBERS.top


@dataclass(frozen=True)
class RunningTotal:
    """Sends the total of everything so far, after every message."""

    def on_message(self, context: Context, edge: str, items: Items) -> Result:
        total = sum(value for _, value, _ in (*context.visible, *items))
        return Result(context.to_all((("total", total, 0),)), state=(*context.own, *items))

    def on_notify(self, context: Context) -> Result:
        return Result()


def exactly_once() -> Story:
    flow = flow_of(
        {"in": batch(), "count": eager(), "ledger": eager(), "out": eager()},
        outputs=["out"],
        domains=dict.fromkeys(("count", "ledger", "out"), NUMBERS),
        a="in > count",
        b="count > ledger",
        c="ledger > out",
    )
    return Story(flow, count=RunningTotal(), ledger=Map(0), out=Stage())


def nth(edge: str, number: int) -> SequenceNumber:
    return SequenceNumber(edge, number)


def totals(story: Story) -> list[int]:
    """What the outside has seen, in order."""
    shown = story.shown.get("out", {})
    return [value for time in sorted(shown) for value in values(shown[time])]


def test_nothing_is_released_before_it_is_durable() -> None:
    """§2.1: "On receiving a message a processor persists its updated state and any resulting
    outgoing messages before acknowledging the processed message".
    """
    story = exactly_once()
    story.ingest("in", 5)
    story.deliver("count", "a", nth("a", 1))
    assert story.queued("b") == [], "the total is held"
    (persist,) = story.saved("count")
    (record,) = persist.records
    assert values(record.state) == [5]
    assert [values(message.batch) for message in record.sent] == [[5]]
    assert story.acknowledged == {}
    story.persist_all("count")
    assert story.queued("b") == [nth("b", 1)], "and released"


def test_the_persisted_state_has_all_messages_up_to_the_latest_and_no_others() -> None:
    """§2.1: "the persisted state encodes the effect of processing all messages up to the latest
    sequence number on each input, and no others".
    """
    story = exactly_once()
    for value in (1, 2, 3):
        story.ingest("in", value)
    for number in (1, 2, 3):
        story.deliver("count", "a", nth("a", number))
    frontiers = [persist.checkpoint.frontier for persist in story.saved("count")]
    assert frontiers == [SequenceFrontier({"a": number}) for number in (1, 2, 3)]
    story.persist_all("count")
    assert values(story.store.ledgers["count"].state(nth("a", 3))) == [1, 2, 3]


def test_a_failed_processor_is_restored_to_its_most_recently_persisted_state() -> None:
    """§2.1: "If a processor fails it is restored to its most-recently persisted state, which
    includes the effect of all acknowledged messages".
    """
    story = exactly_once()
    story.ingest("in", 1)
    story.ingest("in", 2)
    story.ingest("in", 3)
    story.deliver("count", "a", nth("a", 1))
    story.deliver("count", "a", nth("a", 2))
    story.persist_all("count")
    story.deliver("count", "a", nth("a", 3))
    plan = story.fail("count")
    assert plan["count"] == SequenceFrontier({"a": 2})
    assert story.whole_state("count") == [1, 2]
    assert story.queued("a") == [nth("a", 3)], "what was not acknowledged comes again"
    story.close("in")
    story.settle()
    assert totals(story) == [1, 3, 6]


def test_non_failed_processors_need_never_be_interrupted() -> None:
    """§2.1: "non-failed processors need never be interrupted"."""
    for failed in ("count", "ledger", "out"):
        for steps in range(8):
            story = exactly_once()
            story.ingest("in", 1)
            story.ingest("in", 2)
            for _ in range(steps):
                story.one_step()
            plan = story.fail(failed)
            assert all(f.is_top for p, f in plan.items() if p != failed), (failed, steps, plan)


@pytest.mark.parametrize("failed", ["in", "count", "ledger", "out", "everything"])
def test_every_message_counts_exactly_once(failed: str) -> None:
    """§2.1: "stateful processors to which a message is guaranteed to be delivered exactly once"."""
    for steps in range(16):
        story = exactly_once()
        for value in (1, 2, 3):
            story.ingest("in", value)
        story.close("in")
        for _ in range(steps):
            story.one_step()
        if failed == "everything":
            story.crash()
        else:
            story.fail(failed)
        story.settle()
        assert totals(story) == [1, 3, 6], steps


def test_the_same_with_epochs() -> None:
    """§2.1's guarantee does not depend on sequence numbers: sends wait for a durable epoch."""
    flow = flow_of(
        {"in": batch(), "sum": eager(), "out": eager()},
        outputs=["out"],
        a="in > sum",
        b="sum > out",
    )
    story = Story(flow, sum=Sum(), out=Stage())
    story.ingest("in", 1, 2)
    story.close("in")
    story.work("sum")
    assert story.queued("b") == []
    assert story.fail("sum") == {"in": EPOCH.top, "sum": EPOCH.empty, "out": EPOCH.top}
    story.work("sum")
    story.persist_all("sum")
    assert story.queued("b") == [(0,)]
    story.ingest("in", 4)
    story.close("in")
    story.work("sum")
    assert story.fail("sum") == {"in": EPOCH.top, "sum": upto(0), "out": EPOCH.top}
    story.settle()
    assert [values(story.shown["out"][epoch,]) for epoch in (0, 1)] == [[3], [4]]


def test_at_least_once_repeats_and_interrupts_nobody() -> None:
    """§2.1: "a relaxed fault tolerance mode, in which the system does not eagerly checkpoint each
    state update before proceeding to the next" … "must only be used for processors for which
    message deliveries are idempotent, or where it is tolerable to end up in a globally-inconsistent
    state".
    """
    flow = flow_of(
        {"in": batch(), "relaxed": at_least_once(), "keep": lazy()},
        a="in > relaxed",
        b="relaxed > keep",
    )
    story = Story(flow, relaxed=Map(0), keep=Buffer())
    story.ingest("in", 1)
    story.ingest("in", 2)
    story.deliver("relaxed", "a", (0,))
    story.deliver("keep", "b", (0,))
    plan = story.fail("relaxed")
    assert plan == {"in": EPOCH.top, "relaxed": EPOCH.empty, "keep": EPOCH.top}
    assert story.flow.processors["relaxed"].policy.tainted, "and it is shown as such"
    story.settle()
    assert story.whole_state("keep") == [1, 1, 2], "nothing is lost, and 1 came twice"
    story.fail("keep")
    story.settle()
    assert set(story.whole_state("keep")) == {1, 2}, "nor is it when the receiver fails"
