"""§4.4 on the real machine: failed processors lose ⊤, and the others go on working."""

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core import EPOCH
from falkirk.core.machine.events import Again, Delivery, Retract, RolledBack
from falkirk.core.policy import batch, ephemeral, history, lazy
from falkirk.testing.logic import Buffer, Map, Total

TOP, NOTHING = EPOCH.top, EPOCH.empty


def running() -> Story:
    """in → p → q → r and in → s; p logs. One epoch is done and saved, the next is under way."""
    flow = flow_of(
        {"in": batch(), "p": batch(), "q": lazy(), "r": lazy(), "s": lazy()},
        a="in > p",
        b="p > q",
        c="q > r",
        d="in > s",
    )
    story = Story(flow, p=Map(0), q=Buffer(), r=Buffer(), s=Buffer())
    story.ingest("in", 1)
    story.close("in")
    story.settle()
    story.ingest("in", 2)
    story.work()
    return story


def states(story: Story) -> dict[str, list[int]]:
    return {p: story.whole_state(p) for p in "qrs"}


def same(*values: int) -> dict[str, list[int]]:
    """All three have these values."""
    return {p: list(values) for p in "qrs"}


@pytest.mark.parametrize(
    ("failed", "moved"),
    [
        ("r", {"q": upto(0), "r": upto(0)}),
        ("q", {"q": upto(0), "r": upto(0)}),
        ("s", {"s": upto(0)}),
        ("p", {"p": upto(0), "q": upto(0), "r": upto(0)}),
        ("in", dict.fromkeys(("in", "p", "q", "r", "s"), upto(0))),
        ("qs", {"q": upto(0), "r": upto(0), "s": upto(0)}),
        ("pqrs", dict.fromkeys("pqrs", upto(0))),
    ],
)
def test_those_that_failed_lose_top_and_the_largest_frontiers_are_found(
    failed: str, moved: dict[str, object]
) -> None:
    """§4.4: "All non-failed processors p have ⊤ temporarily added to F*(p), and the incremental
    algorithm computes the maximal frontiers needed for rollback given the failed processors".
    """
    story = running()
    plan = story.fail(*([failed] if failed == "in" else failed))
    assert plan == {**dict.fromkeys(("in", "p", "q", "r", "s"), TOP), **moved}
    story.settle()
    assert states(story) == same(1, 2)


def test_a_live_processor_rolls_back_in_memory_and_a_failed_one_from_the_store() -> None:
    """§4.4: "A non-failed processor with a frontier earlier than ⊤ can typically roll back by
    discarding in-memory state rather than restoring from stable storage".
    """
    story = running()
    ledgers = dict(story.machine.state.ledgers)
    story.fail("q")
    assert story.machine.state.ledgers["r"] is ledgers["r"], "filtered where it is"
    assert story.machine.state.ledgers["q"] is not ledgers["q"], "read again"
    assert story.whole_state("q") == story.whole_state("r") == [1]


def test_needed_logged_messages_are_placed_in_the_queues() -> None:
    """§4.4: "Any needed logged messages Q'(e) are placed in appropriate output queues, and the
    processors are restarted".
    """
    story = running()
    assert story.queued("b") == []
    story.fail("q")
    assert story.queued("b") == [(1,)], "epoch 0 is in q's frontier, so only epoch 1 comes again"
    assert story.queued("d") == [], "nobody else gets anything"


def test_a_processor_that_stays_at_top_finishes_what_it_began() -> None:
    """§4.4: "the system pauses all processors" … "With some additional work Naiad could be modified
    to allow pipelines of non-failed processors to continue without pausing". Here nobody pauses.
    """
    story = running()
    story.ingest("in", 3)
    work = story.begin_delivery("s", "d", (1,))
    story.fail("q")
    assert story.whole_state("s") == [1, 2]
    story.finish(work)
    assert story.whole_state("s") == [1, 2, 3], "begun before the failure, ended after it"
    story.settle()
    assert story.whole_state("s") == [1, 2, 3]
    assert story.whole_state("r") == [1, 2, 3]


def test_work_begun_before_a_rollback_is_dropped_when_it_ends_after_it() -> None:
    """What the paper gets from pausing: q's unfinished work must not have any effect."""
    story = running()
    story.ingest("in", 3)
    story.work("p")
    work = story.begin_delivery("q", "b", (1,))
    story.fail("q")
    story.finish(work)
    assert story.whole_state("q") == [1]
    story.settle()
    assert states(story) == same(1, 2, 3)


def test_a_live_processor_that_moves_gets_back_what_it_was_working_on() -> None:
    story = running()
    story.ingest("in", 3)
    story.work("p", "q")
    work = story.begin_delivery("r", "c", (1,))
    story.fail("q")
    assert story.queued("c") == [], "q does not stand by it any more"
    story.finish(work)
    story.settle()
    assert states(story) == same(1, 2, 3)


def test_a_checkpoint_on_its_way_during_a_rollback_never_counts() -> None:
    """A write of a timeline that was rolled back arrives late and is refused by its incarnation."""
    story = running()
    story.close("in")
    story.persist_all("in", "p")
    late = [persist for persist in story.asked if persist.processor in "qr"]
    assert late
    story.fail("q")
    for persist in late:
        story.commit(persist)
    assert story.store.orphans == len(late)
    assert story.crash()["q"] == upto(0)
    story.settle()
    assert states(story) == same(1, 2)


def test_a_rolled_back_timeline_is_forgotten_durably_before_anything_is_saved_again() -> None:
    story = running()
    story.close("in")
    story.persist_all()
    story.effects.clear()
    story.fail("in", "p", "q")
    kinds = [type(effect) for effect in story.effects]
    assert kinds[:2] == [RolledBack, Retract]
    retract = story.effects[1]
    assert isinstance(retract, Retract)
    assert set(retract.frontiers) == {p for p, f in story.plan.items() if f != TOP}
    story.settle()
    assert states(story) == same(1, 2)


# Suspicion.


def test_suspicion_only_holds_messages() -> None:
    """§4.4: "p continues to work, buffering output to q in case the connection is reestablished".

    So nobody goes back because of it.
    """
    story = running()
    story.suspect("q")
    story.ingest("in", 3)
    story.work()
    assert story.whole_state("s") == [1, 2, 3]
    assert story.queued("b") == [(1,)], "p has worked, and what it sent waits"
    assert story.enabled() == []
    story.trust("q")
    story.settle()
    assert states(story) == same(1, 2, 3)
    assert not any(isinstance(effect, RolledBack) for effect in story.effects)


def test_what_a_suspected_processor_sent_is_held_too() -> None:
    story = running()
    story.ingest("in", 3)
    story.work("p", "q")
    story.suspect("q")
    assert [item for item in story.enabled("r") if isinstance(item, Delivery)] == []
    story.fail("q")
    assert "q" not in story.machine.state.suspected, "confirmed, and restarted"
    story.settle()
    assert states(story) == same(1, 2, 3)


# Failures upon failures.


def test_a_failure_during_a_recovery() -> None:
    story = running()
    story.fail("q")
    story.deliver("q", "b", (1,))
    assert story.fail("q")["q"] == upto(0)
    assert story.fail("r")["r"] == upto(0)
    story.fail("p", "s")
    story.settle()
    assert states(story) == same(1, 2)


def test_a_failure_during_a_replay() -> None:
    flow = flow_of({"in": batch(), "h": history(), "q": lazy(9)}, a="in > h", b="h > q")
    story = Story(flow, h=Total(), q=Buffer())
    for value in (1, 2, 3):
        story.ingest("in", value)
        story.close("in")
    story.work()
    story.persist_all("in", "h")
    before = story.whole_state("q")
    assert before == [1, 3, 6]
    for replayed in range(6):
        story.fail("h", "q")
        for _ in range(replayed):
            again = story.enabled("h")[0]
            assert isinstance(again, Again)
            story.finish(story.machine.begin(again))
        story.fail("h")
    story.settle()
    assert story.whole_state("q") == before


def test_everything_fails_again_and_again() -> None:
    story = running()
    for value in (3, 4, 5):
        story.crash()
        story.catch_up("in")
        story.work("p", "q")
        story.fail("in", "p", "q", "r", "s")
        story.work("p")
        story.crash()
        story.settle()
        story.ingest("in", value)
        story.close("in")
    story.settle()
    assert states(story) == same(1, 2, 3, 4, 5)


def test_a_stateless_processor_is_not_interrupted_if_nothing_of_it_is_undone() -> None:
    """§4.4: who has not failed offers ⊤. What it has done is known, also if it saves nothing."""
    flow = flow_of(
        {"a": batch(), "b": batch(), "p": ephemeral(), "q": lazy()},
        x="a > p",
        y="b > p",
        z="p > q",
    )
    story = Story(flow, p=Map(0), q=Buffer())
    for name in ("a", "b"):
        story.ingest(name, 1)
    story.close("a", "b")
    story.settle()
    story.ingest("a", 2)
    work = story.begin_delivery("p", "x", (1,))
    plan = story.fail("b")
    assert plan["b"] == upto(0)
    assert plan["p"].is_top
    story.finish(work)
    assert story.queued("z") == [(1,)], "what it was working on counts"
    story.ingest("b", 3)
    story.deliver("p", "y", (1,))
    plan = story.fail("b")
    assert plan["p"] == upto(0), "now it has something of b that is undone"
    story.close("a", "b")
    story.settle()
    assert story.whole_state("q") == [1, 1, 2, 3]
