"""§4.1 on the real machine: full histories, checkpoint callbacks, and when a checkpoint is due."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of, items, values

from falkirk.core import EPOCH, DefinitionError
from falkirk.core.machine.events import Again, Result
from falkirk.core.policy import Policy, batch, ephemeral, history, lazy
from falkirk.testing.logic import Buffer, Context, Items, Total

TOP, NOTHING = EPOCH.top, EPOCH.empty


def with_history(**logics: Any) -> Story:
    """in → p → keep, where p is any processor whose history is logged."""
    flow = flow_of({"in": batch(), "p": history(), "keep": lazy(2)}, a="in > p", b="p > keep")
    return Story(flow, keep=Buffer(), **logics)


@dataclass
class NoEffort:
    """A processor without a line about checkpoints; it notes how it was called."""

    calls: list[Any] = field(default_factory=list)

    def on_message(self, context: Context, edge: str, given: Items) -> Result:
        self.calls.append((context.time, values(given)))
        return Result(context.to_all(given), requests=(context.time,), state=(*context.own, *given))

    def on_notify(self, context: Context) -> Result:
        self.calls.append((context.time, "notified"))
        return Result(context.to_all(items(100 + sum(values(context.visible)))))


def test_any_deterministic_processor_is_restored_by_replaying_its_history() -> None:
    """§4.1: "it can be automatically rolled back to any frontier by replaying the filtered history
    and forwarding any resulting messages that are needed by downstream processors after their
    rollback".
    """
    logic = NoEffort()
    story = with_history(p=logic)
    story.ingest("in", 1)
    story.ingest("in", 2)
    story.close("in")
    story.ingest("in", 3)
    story.work("p")
    story.persist_all("p")
    before = list(logic.calls)
    assert before == [((0,), [1]), ((0,), [2]), ((1,), [3]), ((0,), "notified")]
    assert story.store.ledgers["p"].state((0,)) == [], "neither state nor messages are written"
    assert story.logged("b") == []

    plan = story.fail("p", "keep")
    assert plan == {"in": TOP, "p": upto(0), "keep": NOTHING}
    logic.calls.clear()
    assert all(isinstance(item, Again) for item in story.enabled("p"))
    story.settle()
    assert logic.calls == [*before[:2], before[3], before[2]], "first the history, filtered"
    assert story.whole_state("keep") == [1, 2, 3, 103]


def test_a_replay_sends_nothing_that_its_receivers_have() -> None:
    story = with_history(p=NoEffort())
    story.ingest("in", 1)
    story.close("in")
    story.work("p")
    story.persist_all("p")
    story.deliver("keep", "b", (0,))
    assert story.fail("p") == {"in": TOP, "p": upto(0), "keep": TOP}
    assert story.queued("b") == [(0,)], "one is with keep, the other in its queue"
    story.settle()
    assert story.whole_state("keep") == [1, 101]


def test_the_replay_is_in_the_order_in_which_it_happened_first() -> None:
    """What happened interleaved is replayed interleaved, without what lies outside."""
    logic = NoEffort()
    flow = flow_of(
        {"l": batch(), "r": batch(), "p": history(), "keep": lazy()},
        a="l > p",
        b="r > p",
        c="p > keep",
    )
    story = Story(flow, p=logic, keep=Buffer())
    story.close("r")
    story.ingest("r", 10)
    story.ingest("l", 1)
    story.ingest("l", 2)
    story.deliver("p", "a", (0,))
    story.deliver("p", "b", (1,))
    story.deliver("p", "a", (0,))
    story.close("l")
    story.notify("p", (0,))
    story.persist_all("p")
    logic.calls.clear()
    assert story.fail("p")["p"] == upto(0)
    for _ in range(3):
        (again,) = story.enabled("p")
        story.finish(story.machine.begin(again))
    assert logic.calls == [((0,), [1]), ((0,), [2]), ((0,), "notified")]


def test_a_processor_that_is_not_deterministic_is_told_so() -> None:
    """§4.1: "any deterministic processor without external side-effects"."""

    class Whims:
        """Sends something every other time."""

        whim = count()

        def on_message(self, context: Context, edge: str, given: Items) -> Result:
            return Result(context.to_all(given) if next(self.whim) % 2 else ())

        def on_notify(self, context: Context) -> Result:
            return Result()

    story = with_history(p=Whims())
    story.ingest("in", 1)
    story.close("in")
    story.work("p")
    story.persist_all("p")
    story.fail("p")
    with pytest.raises(DefinitionError, match="needs a deterministic processor"):
        story.settle()


def test_the_history_is_truncated_below_the_low_watermark() -> None:
    """§4.1: "the history grows without bound so it is not suitable for long-running streaming
    applications". Here it is folded once nobody can ask for it any more.
    """
    story = with_history(p=Total())
    sizes = []
    for epoch in range(12):
        story.ingest("in", epoch)
        story.close("in")
        story.settle()
        sizes.append(story.store.rows())
    assert max(sizes[6:]) <= max(sizes[:6])
    assert story.fail("p")["p"] == upto(11)
    story.settle()
    story.ingest("in", 100)
    story.close("in")
    story.settle()
    assert max(story.whole_state("keep")) == sum(range(12)) + 100


# Checkpoint callbacks.


@dataclass
class OwnState:
    """Keeps its state in a dictionary by time, where the system cannot see it."""

    totals: dict[Any, int] = field(default_factory=dict)
    asked: list[Any] = field(default_factory=list)

    def on_message(self, context: Context, edge: str, given: Items) -> Result:
        total = self.totals.get(context.time, 0) + sum(values(given))
        self.totals[context.time] = total
        return Result(context.to_all(items(total)))

    def on_notify(self, context: Context) -> Result:
        return Result()

    def checkpoint(self, frontier: Any) -> dict[Any, int]:
        self.asked.append(frontier)
        return {time: total for time, total in self.totals.items() if time in frontier}

    def restore(self, frontier: Any, saved: dict[Any, int] | None) -> None:
        self.totals = dict(saved or {})


def with_own_state(policy: Policy) -> tuple[Story, OwnState]:
    logic = OwnState()
    flow = flow_of(
        {"in": batch(), "p": policy, "keep": lazy()}, opaque=["p"], a="in > p", b="p > keep"
    )
    return Story(flow, p=logic, keep=Buffer()), logic


def test_a_processor_may_elect_to_receive_checkpoint_callbacks() -> None:
    """§4.1: "Alternatively it can elect to receive checkpoint callbacks" … "Stateful processors are
    also periodically (lazily) informed when new times become complete, and can choose to
    selectively checkpoint based on local policy".
    """
    story, logic = with_own_state(lazy())
    story.ingest("in", 1)
    story.work()
    assert logic.asked == []
    story.close("in")
    story.ingest("in", 5)
    story.work()
    assert logic.asked == [upto(0)], "asked when epoch 0 became complete"
    story.persist_all()
    assert logic.totals == {(0,): 1, (1,): 5}
    plan = story.fail("p")
    assert plan["p"] == upto(0)
    assert logic.totals == {(0,): 1}, "given back what it had saved"
    story.settle()
    assert logic.totals == {(0,): 1, (1,): 5}


def test_without_a_checkpoint_it_is_restored_to_nothing() -> None:
    story, logic = with_own_state(lazy())
    story.ingest("in", 1)
    story.work()
    story.fail("p")
    assert logic.totals == {}
    story.settle()
    assert logic.totals == {(0,): 1}


@pytest.mark.parametrize("policy", [ephemeral(), batch(), history()])
def test_own_state_needs_a_policy_that_saves_it(policy: Policy) -> None:
    with pytest.raises(DefinitionError, match="lazy or eager"):
        with_own_state(policy)


# When a lazy checkpoint is due.


def checkpoints_of(policy: Policy, epochs: int, seconds: int) -> list[Any]:
    """The checkpoints that are taken when an epoch ends every so many seconds."""
    flow = flow_of({"in": batch(), "p": policy}, a="in > p")
    story = Story(flow, p=Buffer())
    for epoch in range(epochs):
        story.ingest("in", epoch)
        story.close("in")
        story.work()
        story.tick((epoch + 1) * seconds)
    return [persist.checkpoint.frontier for persist in story.saved("p")]


def test_a_lazy_checkpoint_is_due_by_count_by_time_or_by_a_rule_of_the_users() -> None:
    """§4.1: "can choose to selectively checkpoint based on local policy"."""
    assert checkpoints_of(lazy(), 3, 1) == [upto(0), upto(1), upto(2)]
    assert checkpoints_of(lazy(every=2), 5, 1) == [upto(1), upto(3)]
    assert checkpoints_of(lazy(seconds=10), 5, 5) == [upto(1), upto(3)]
    assert checkpoints_of(lazy(when=lambda n, _: n >= 3), 4, 1) == [upto(2)]
