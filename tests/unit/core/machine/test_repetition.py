"""A repetition that its receiver has is not delivered again, and still counts as sent (§2.1, §3.5).

The receiver may lose it yet. If nobody answered for it then, the row would never come again.
"""

from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core import EPOCH
from falkirk.core.policy import at_least_once, batch, lazy
from falkirk.testing.logic import Buffer, Map

FIRST = (0,)


def story_of_a_repetition() -> Story:
    """``again`` fails after ``keep`` has what it sent; it works once more, and both know it."""
    flow = flow_of(
        {"in": batch(), "again": at_least_once(), "keep": lazy(every=5)},
        e="in > again",
        f="again > keep",
    )
    story = Story(flow, again=Map(0), keep=Buffer())
    story.ingest("in", 7)
    story.close("in")
    story.work()
    assert story.whole_state("keep") == [7]
    plan = story.fail("again")
    assert plan["again"].is_empty
    assert plan["keep"].is_top, "it does not go back because of an at-least-once sender"
    story.catch_up("in")
    story.chapter()
    story.work()
    assert story.chapter() == [("again", FIRST)], "what it repeats is not delivered again"
    assert story.whole_state("keep") == [7]
    return story


def test_who_repeats_says_that_it_has_sent() -> None:
    story = story_of_a_repetition()
    record = story.machine.state.ledgers["again"].records[FIRST]
    assert record.discarded == {"f": {FIRST}}


def test_a_receiver_that_fails_before_it_has_saved_gets_the_row_again() -> None:
    story = story_of_a_repetition()
    plan = story.fail("keep")
    assert plan["keep"].is_empty
    assert plan["again"].is_empty, "it has to send once more"
    story.catch_up("in")
    story.work()
    assert story.whole_state("keep") == [7]


def test_a_crash_after_the_repeater_has_saved_loses_nothing_either() -> None:
    story = story_of_a_repetition()
    story.persist_all("in", "again")
    assert [write.checkpoint.frontier for write in story.saved("again")][-1:] == [
        EPOCH.frontier([FIRST])
    ]
    story.crash()
    story.catch_up("in")
    story.work()
    assert story.whole_state("keep") == [7]
