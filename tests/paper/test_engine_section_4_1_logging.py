"""§4.1 on the real machine: the firewall, and logging of some edges."""

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core import EPOCH, DefinitionError
from falkirk.core.policy import Policy, batch, eager, ephemeral, history, lazy
from falkirk.testing.logic import Buffer, Map, Sum

TOP, NOTHING = EPOCH.top, EPOCH.empty


def pipeline(middle: Policy) -> Story:
    """in → parse → middle → keep, one epoch delivered and one under way."""
    flow = flow_of(
        {"in": ephemeral(), "parse": ephemeral(), "middle": middle, "keep": lazy()},
        a="in > parse",
        b="parse > middle",
        c="middle > keep",
    )
    story = Story(flow, parse=Map(0), middle=Map(0), keep=Buffer())
    story.ingest("in", 1)
    story.close("in")
    story.settle()
    story.ingest("in", 2)
    story.work()
    return story


def test_a_logging_processor_is_a_firewall() -> None:
    """§4.1: "it behaves like a Spark RDD and acts like a "firewall" preventing upstream processors
    from rolling back in the event of a downstream failure".
    """
    story = pipeline(batch())
    assert story.fail("keep") == {"in": TOP, "parse": TOP, "middle": TOP, "keep": upto(0)}
    assert story.queued("c") == [(1,)], "the log has it"
    story.chapter()
    story.settle()
    assert {p for p, _ in story.chapter()} == {"keep"}
    assert story.whole_state("keep") == [1, 2]


def test_without_logging_upstream_rolls_back() -> None:
    """§4.1: "by default suppress logging of sent messages meaning that the processors incur no
    fault tolerance overhead".
    """
    story = pipeline(ephemeral())
    assert story.saved("parse") == story.saved("middle") == []
    assert set(story.fail("keep").values()) == {upto(0)}
    story.chapter()
    story.settle()
    assert {p for p, _ in story.chapter()} == {"parse", "middle", "keep"}
    assert story.whole_state("keep") == [1, 2]


def test_a_firewall_that_fails_before_its_log_is_durable_is_none() -> None:
    story = pipeline(batch())
    assert set(story.fail("middle", "keep").values()) == {upto(0)}
    story.settle()
    assert story.whole_state("keep") == [1, 2]


def fork(policy: Policy) -> Story:
    """What ``split`` sends goes to two keepers."""
    flow = flow_of(
        {"in": batch(), "split": policy, "left": lazy(), "right": lazy()},
        a="in > split",
        to_left="split > left",
        to_right="split > right",
    )
    story = Story(flow, split=Map(0), left=Buffer(), right=Buffer())
    story.ingest("in", 1)
    story.work()
    return story


def test_some_or_all_sent_messages_can_be_logged() -> None:
    """§4.1: "A processor can elect to log some or all sent messages, again with no additional
    programming effort".
    """
    logged = fork(ephemeral().logging("to_left"))
    assert logged.fail("left") == {"in": TOP, "split": TOP, "left": NOTHING, "right": TOP}
    logged.settle()
    assert (logged.whole_state("left"), logged.whole_state("right")) == ([1], [1])

    other = fork(ephemeral().logging("to_left"))
    plan = other.fail("right")
    assert plan["split"] == plan["right"] == NOTHING, "what went there was not logged"
    assert plan["in"] == TOP, "it logs, so it is not asked to read again"
    other.settle()
    assert (other.whole_state("left"), other.whole_state("right")) == ([1], [1])


def test_only_the_edges_of_a_processor_can_be_logged() -> None:
    with pytest.raises(DefinitionError, match="not an output edge"):
        fork(ephemeral().logging("a"))


@pytest.mark.parametrize("policy", [lazy(), eager(), history(), batch(), ephemeral()])
def test_the_system_keeps_track_for_any_processor(policy: Policy) -> None:
    """§4.1: "The system can automatically keep track of N̄, M̄ and D̄ for any processor"."""
    flow = flow_of({"in": batch(), "sum": policy, "keep": lazy()}, a="in > sum", b="sum > keep")
    story = Story(flow, sum=Sum(), keep=Buffer())
    for epoch in range(3):
        story.ingest("in", epoch)
        story.close("in")
    story.deliver("sum", "a", (0,))
    story.deliver("sum", "a", (1,))
    story.notify("sum", (0,))
    kept = story.machine.state.ledgers["sum"].metadata(TOP)
    if policy == ephemeral():  # what is complete needs no record: M̄ = N̄ = D̄ = f
        assert kept.processed == {"a": upto(1)}
        return
    assert kept.notified == upto(0)
    assert kept.processed == {"a": upto(1)}
    assert kept.discarded == {"b": upto(0) if policy == lazy() else NOTHING}
