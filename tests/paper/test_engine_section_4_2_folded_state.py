"""§4.2 on the real machine: what is below the low-watermark is folded, and still has its times.

§4.1: a processor sees the state of times before the one that it works on. Inside a loop that is
product order, even where checkpoints are taken in lexicographic order.
"""

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core import EPOCH, Structured
from falkirk.core.machine.events import Compacted
from falkirk.core.order import Order
from falkirk.core.policy import Policy, batch, eager, history, lazy
from falkirk.testing.crossing import Recall
from falkirk.testing.logic import Stage, flat


def looping(order: Order, policy: Policy) -> Story:
    """A loop whose body remembers what it has seen; epoch 0 had five turns and is folded."""
    flow = flow_of(
        {"in": batch(), "body": policy, "out": lazy()},
        domains={"body": Structured(2, order)},
        outputs=["out"],
        enter="in > body by enter",
        around="body > body by feedback",
        leave="body > out by leave",
    )
    story = Story(flow, body=Recall("around"), out=Stage())
    story.ingest("in", 5)
    story.close("in")
    story.settle()
    assert {time for time, _ in story.machine.state.ledgers["body"].base.state} == {
        (0, turn) for turn in range(6)
    }
    return story


def seen(story: Story) -> dict[str, int]:
    """What the body said at each turn of epoch 1."""
    return {label[0]: value for label, value, _ in story.shown["out"][1,]}


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("policy", [lazy(), eager(), history()], ids=lambda p: p.regime.value)
def test_an_event_does_not_see_folded_state_of_later_times(order: Order, policy: Policy) -> None:
    """At (1, 3) the state of (0, 5) is not seen, although (0, 5) is before it in the frontier."""
    story = looping(order, policy)
    story.ingest("in", 3)
    story.close("in")
    story.settle()
    first = {turn: 5 - turn for turn in range(6)}
    second = {turn: 3 - turn for turn in range(4)}
    assert seen(story) == {
        str(turn): sum(first[t] + second[t] for t in range(turn + 1)) for turn in second
    }


@pytest.mark.parametrize("crash", [False, True])
def test_compacted_state_means_the_same(crash: bool) -> None:
    """Times that no event to come can tell apart become one."""
    plain, compacted = looping(Order.LEX, lazy()), looping(Order.LEX, lazy())
    assert compacted.machine.compactable("body") == [], "each turn of epoch 1 sees another part"
    for story in (plain, compacted):
        story.ingest("in", 2)
        story.close("in")
        story.settle()
    groups = compacted.machine.compactable("body")
    assert [time for time, _ in groups] == [(1, 0), (1, 1), (1, 2)]
    for time, group in groups:
        merged = tuple(sorted(flat(entry for _, entry in group)))
        compacted.step(Compacted("body", group, ((time, merged),)))
    assert len(compacted.machine.state.ledgers["body"].base.state) == 6
    assert compacted.store.ledgers["body"].base.state == (
        compacted.machine.state.ledgers["body"].base.state
    )
    for story in (plain, compacted):
        if crash:
            story.crash()
        story.ingest("in", 4)
        story.close("in")
        story.settle()
    assert compacted.shown["out"] == plain.shown["out"]


def test_of_an_input_only_its_position_is_kept() -> None:
    """§4.3: what an input epoch consists of is known by where in the source it ends."""
    flow = flow_of({"in": batch(), "out": lazy()}, outputs=["out"], a="in > out")
    story = Story(flow, out=Stage())
    for epoch in range(4):
        story.ingest("in", epoch)
        story.close("in")
    story.settle()
    assert story.machine.position("in") == 3
    assert story.machine.state.ledgers["in"].base.state == [((3,), 3)]
    story.ingest("in", 4)
    story.ingest("in", 5)
    assert story.machine.position("in") == 5, "the newest replaces"
    assert story.machine.state.ledgers["in"].records[4,].state == [5]
    story.close("in")
    story.settle()
    story.crash()
    assert story.machine.position("in") == 5
    assert EPOCH.frontier([(4,)]) == story.plan["in"]


def test_a_position_goes_back_with_its_input() -> None:
    flow = flow_of({"in": batch(), "out": lazy()}, outputs=["out"], a="in > out")
    story = Story(flow, out=Stage())
    story.ingest("in", 1)
    story.close("in")
    story.settle()
    story.ingest("in", 2)
    assert story.machine.position("in") == 2
    story.crash()
    assert story.machine.position("in") == 1
