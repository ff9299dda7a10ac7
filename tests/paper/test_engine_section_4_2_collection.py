"""§4.2 on the real machine: what the low-watermarks let go, and what is never let go."""

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core import EPOCH
from falkirk.core.machine.events import Collect, CollectLog
from falkirk.core.policy import Policy, batch, eager, ephemeral, history, lazy
from falkirk.testing.logic import Buffer, Map, Stage, Sum, Total

NOTHING = EPOCH.empty


def pair() -> Story:
    """in → p → q, where p logs and q falls behind."""
    flow = flow_of({"in": ephemeral(), "p": batch(), "q": lazy()}, a="in > p", b="p > q")
    return Story(flow, p=Map(0), q=Buffer())


def ahead() -> Story:
    """in and p have done and saved three epochs; q has only received one."""
    story = pair()
    for epoch in range(3):
        story.ingest("in", epoch)
        story.close("in")
    story.work("p")
    story.persist_all("in", "p")
    story.deliver("q", "b", (0,))
    return story


def test_a_checkpoint_counts_when_it_and_its_log_are_durable() -> None:
    """§4.2: "Each time a processor p receives an acknowledgement from storage that Ξ(p,f), S(p,f)
    and L(p,f) have all been persisted for some f, it sends Ξ(p,f) to a monitoring service".
    """
    story = pair()
    story.ingest("in", 1)
    story.close("in")
    story.work("p")
    story.persist_all("in")
    assert story.watermark("p") == NOTHING
    story.persist_all("p")
    assert story.watermark("p") == upto(0)


def test_checkpoints_count_in_order() -> None:
    """A later one that becomes durable first waits for the earlier ones."""
    story = pair()
    for epoch in range(2):
        story.ingest("in", epoch)
        story.close("in")
        story.work("p")
    story.persist_all("in")
    first, second = (persist for persist in story.asked if persist.processor == "p")
    story.commit(second)
    assert story.watermark("p") == NOTHING
    story.commit(first)
    assert story.watermark("p") == upto(1)


def test_a_sender_may_discard_what_lies_in_the_watermark_of_its_receiver() -> None:
    """§4.2: "Processors q that send to p are also notified, and can discard any messages in L(e,·)
    with times in f for e ∈ In(p)".
    """
    story = ahead()
    assert story.logged("b") == [(0,), (1,), (2,)]
    assert story.watermark("p") == upto(2), "p itself is safe"
    assert story.watermark("q") == NOTHING
    story.persist_all("q")
    assert story.watermark("q") == upto(0)
    assert story.logged("b") == [(1,), (2,)], "what q may still ask for stays"
    assert CollectLog("b", upto(0)) in story.effects


def test_what_is_not_yet_in_the_watermark_is_never_collected() -> None:
    """§4.2: "the processor will never need to roll back beyond it in any failure scenario": so
    everything else must stay. Whatever fails now, it can be restored.
    """
    for failed in ([], ["in"], ["p"], ["q"], ["in", "p", "q"], ["p", "q"]):
        story = ahead()
        story.persist_all("q")
        if failed:
            story.fail(*failed)
        else:
            story.crash()
        story.settle()
        assert story.whole_state("q") == [0, 1, 2]


def test_checkpoints_strictly_inside_the_watermark_go() -> None:
    """§4.2: "is at liberty to garbage-collect Ξ(p,f') and S(p,f) for any f' ⊂ f"."""
    story = ahead()
    story.persist_all("q")
    for time in ((1,), (2,)):
        story.deliver("q", "b", time)
        story.persist_all("q")
        (row,) = story.store.checkpoints["q"]
        assert row.frontier == upto(time[0]) == story.watermark("q")
    assert all(
        effect.watermark <= story.watermark("q")
        for effect in story.effects
        if isinstance(effect, Collect) and effect.processor == "q"
    )


def test_state_is_folded_and_not_lost() -> None:
    """S(p, f) itself is kept: only the parts of it can no longer be told apart by time."""
    story = ahead()
    story.settle()
    assert story.store.ledgers["q"].records == {}
    assert story.store.ledgers["q"].base.frontier == upto(2)
    story.crash()
    assert story.whole_state("q") == [0, 1, 2]


def test_a_low_watermark_never_falls() -> None:
    """§4.2: "the monitoring service is deterministic, monotonic"."""
    story = ahead()
    story.settle()
    before = {p: story.watermark(p) for p in story.flow.processors}
    story.ingest("in", 9)
    story.work()
    for failed in (["q"], ["p"], ["in", "q"]):
        story.fail(*failed)
        assert all(before[p] <= story.watermark(p) for p in before)
    story.crash()
    assert all(before[p] <= story.watermark(p) for p in before)


@pytest.mark.parametrize("stateful", [False, True])
@pytest.mark.parametrize(
    "policy",
    [ephemeral(), batch(), lazy(), lazy(3), eager(), history()],
    ids=["ephemeral", "batch", "lazy", "lazy-3", "eager", "history"],
)
def test_storage_stays_bounded(policy: Policy, stateful: bool) -> None:
    """§4.2: "A fault tolerance design that targets practical streaming systems must address the
    issue of garbage-collecting persisted state, since it will otherwise grow indefinitely".
    """
    stateful = stateful and not policy.stateless
    flow = flow_of(
        {"in": batch(), "p": policy, "out": lazy(2)}, outputs=["out"], a="in > p", b="p > out"
    )
    story = Story(flow, p=Total() if stateful else Sum(), out=Stage())
    rows, records = [], []
    for epoch in range(120):
        story.ingest("in", 1)
        story.close("in")
        story.work()
        story.persist_all()
        story.take_outputs()
        if epoch % 7 == 3:
            story.fail("p")
        if epoch % 11 == 5:
            story.crash()
        story.work()
        rows.append(story.store.rows())
        records.append(sum(len(each.records) for each in story.machine.state.ledgers.values()))
    assert max(rows) < 30, "though there were 120 epochs"
    assert max(records) < 20, "nor does memory grow"
    story.settle()
    last = story.shown["out"][119,]
    assert [value for _, value, _ in last] == [120 if stateful else 1]
