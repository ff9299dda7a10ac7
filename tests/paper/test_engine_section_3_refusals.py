"""§3 on the real machine: processors that do what their policy cannot bear, and graphs that cannot
work, are refused."""

from dataclasses import dataclass

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of, items

from falkirk.core import DefinitionError, Order, Structured
from falkirk.core.machine.events import Result
from falkirk.core.policy import Policy, batch, ephemeral, history, lazy
from falkirk.testing.crossing import Turn
from falkirk.testing.logic import Buffer, Context, Delay, Items, Later, Logic, Map, Sum

LOOP = Structured(2)


# A policy and what the processor does must agree.


def one(policy: Policy, logic: Logic) -> Story:
    flow = flow_of({"in": batch(), "p": policy, "q": lazy()}, a="in > p", b="p > q")
    story = Story(flow, p=logic, q=Buffer())
    story.ingest("in", 1)
    return story


@dataclass(frozen=True)
class Misbehaves:
    """Does one thing that nobody may do."""

    result: Result

    def on_message(self, context: Context, edge: str, given: Items) -> Result:
        return self.result

    def on_notify(self, context: Context) -> Result:
        return Result()


@pytest.mark.parametrize("policy", [ephemeral(), batch()])
def test_a_stateless_processor_that_keeps_state_is_refused(policy: Policy) -> None:
    story = one(policy, Buffer())
    story.deliver("p", "a", (0,))
    with pytest.raises(DefinitionError, match="keeps state after its time"):
        story.close("in")


def test_within_a_time_it_may_keep_state() -> None:
    """§4.1: "we call such a processor "stateless" even though it may accumulate state within a
    time".
    """
    story = one(ephemeral(), Sum())
    story.deliver("p", "a", (0,))
    assert story.state("p") == {(0,): [1]}
    story.close("in")
    story.settle()
    assert story.whole_state("q") == [1]


def test_an_ephemeral_processor_that_sends_into_the_future_is_refused() -> None:
    """§3.4: the stateless approximation is for one that "sends all messages with the epoch of the
    event that caused the message".
    """
    story = one(ephemeral(), Delay())
    with pytest.raises(DefinitionError, match="into the future"):
        story.work("p")
    one(batch(), Delay()).work("p")


@pytest.mark.parametrize("policy", [ephemeral(), batch()])
def test_a_stateless_processor_that_asks_for_the_future_is_refused(policy: Policy) -> None:
    with pytest.raises(DefinitionError, match="its own time only"):
        one(policy, Later()).work("p")


@pytest.mark.parametrize("policy", [ephemeral(), batch(), lazy(), history()])
def test_nobody_sends_or_asks_for_the_past(policy: Policy) -> None:
    """§3.2: "messages cannot be sent backwards in time"."""
    story = one(policy, Misbehaves(Result(sends=(("b", (0,), items(1)),))))
    story.close("in")
    story.ingest("in", 2)
    story.deliver("p", "a", (0,))
    with pytest.raises(DefinitionError, match="the earliest time there is"):
        story.deliver("p", "a", (1,))
    story = one(policy, Misbehaves(Result(requests=((0,),))))
    story.close("in")
    story.ingest("in", 2)
    story.deliver("p", "a", (0,))
    with pytest.raises(DefinitionError, match="in the past"):
        story.deliver("p", "a", (1,))


# Graphs that cannot work.


def test_a_cycle_that_leaves_the_loop_in_which_it_advances_is_refused() -> None:
    """Around, out and in again: nothing has advanced, though there is a feedback edge."""
    with pytest.raises(DefinitionError, match="without advancing time"):
        flow_of(
            {"in": batch(), "p": lazy(), "x": lazy(), "y": lazy()},
            domains={"x": LOOP, "y": LOOP},
            a="in > p",
            i="p > x by enter",
            f="x > y by feedback",
            o="y > p by leave",
        )


def test_a_cycle_without_feedback_is_refused() -> None:
    with pytest.raises(DefinitionError, match="time stands still"):
        flow_of({"in": batch(), "p": lazy(), "q": lazy()}, a="in > p", b="p > q", c="q > p")


@pytest.mark.parametrize("order", list(Order))
def test_loops_within_loops_are_fine(order: Order) -> None:
    outer, inner = Structured(2, order), Structured(3, order)
    flow = flow_of(
        {"in": batch(), "x": lazy(), "i": lazy(), "y": lazy(), "after": lazy()},
        domains={"x": outer, "i": inner, "y": outer},
        a="in > x by enter",
        xi="x > i by enter",
        ii="i > i by feedback",
        iy="i > y by leave",
        yx="y > x by feedback",
        out="y > after by leave",
    )
    story = Story(flow, x=Map(0), i=Turn("ii"), y=Outer(), after=Buffer())
    story.ingest("in", 2)
    story.ingest("in", 5)
    story.close("in")
    for _ in range(9):
        item = story.enabled()[0]
        story.finish(story.machine.begin(item))
    story.persist_all()
    story.fail("i")
    story.settle()
    assert story.whole_state("after") == [0, 0]
    story.crash()
    story.settle()
    assert story.whole_state("after") == [0, 0]


class Outer:
    """Sends what comes out of the inner loop around the outer one, twice."""

    def on_message(self, context: Context, edge: str, given: Items) -> Result:
        turn = context.time[1]
        wanted = "yx" if turn < 2 else "out"
        batch = items(2) if turn < 2 else given
        return Result(tuple(send for send in context.to_all(batch) if send[0] == wanted))

    def on_notify(self, context: Context) -> Result:
        return Result()
