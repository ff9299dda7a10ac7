"""A rollback says why somebody could not keep a checkpoint that it had (§3.5, §4.4)."""

from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core import EPOCH
from falkirk.core.policy import batch, lazy
from falkirk.testing.logic import Buffer, Map


def test_one_that_failed_goes_below_its_last_checkpoint_for_a_reason() -> None:
    flow = flow_of(
        {"in": batch(), "first": lazy(), "second": lazy()}, e="in > first", f="first > second"
    )
    story = Story(flow, first=Map(0), second=Buffer())
    for row in (7, 8):
        story.ingest("in", row)
        story.close("in")
        story.work()
        story.persist_all("in", "second", *["first"] * (row == 7))
    last = story.saved("second")[-1].checkpoint.frontier
    plan = story.fail("first", "second")
    assert plan["first"] == plan["second"] == EPOCH.frontier([(0,)])
    assert last == EPOCH.frontier([(1,)]), "it had saved more than it may keep"
    assert "delivered-messages" in {reason.constraint for reason in story.reasons["second"]}
