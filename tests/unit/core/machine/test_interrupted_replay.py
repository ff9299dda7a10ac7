"""A processor runs its history again, and another failure puts it further back meanwhile (§4.4)."""

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core.policy import ephemeral, history, lazy
from falkirk.testing.logic import Buffer, Total

EVENTS = 6
"""In three epochs: a message and a notification each."""


def story_of_three_epochs() -> Story:
    flow = flow_of(
        {"in": ephemeral(), "p": history(), "keep": lazy(every=9)}, a="in > p", b="p > keep"
    )
    story = Story(flow, p=Total(), keep=Buffer())
    for number in (1, 2, 3):
        story.ingest("in", number)
        story.close("in")
    return story


def totals(story: Story) -> list[int]:
    story.settle()
    return story.whole_state("keep")


@pytest.mark.parametrize("begun", [False, True], ids=["between", "amid"])
@pytest.mark.parametrize("done", range(EVENTS))
def test_it_goes_on_with_what_is_left_and_owes_what_it_owed(done: int, begun: bool) -> None:
    """``in`` has saved two epochs of three, so ``p`` cannot keep the third one either."""
    story = story_of_three_epochs()
    story.work("p")
    for persist in story.saved("in")[:2]:
        story.commit(persist)
    story.persist_all("p")
    assert story.fail("p", "keep")["p"] == (2,)
    for _ in range(done):
        story.finish(story.machine.begin(story.enabled("p")[0]))
    late = story.machine.begin(story.enabled("p")[0]) if begun else None
    assert story.fail("in")["p"] == (1,)
    if late is not None:
        story.finish(late)  # for nothing: it belongs to an earlier life
    undisturbed = story_of_three_epochs()
    assert totals(story) == totals(undisturbed)
    assert story.whole_state("p") == undisturbed.whole_state("p")
