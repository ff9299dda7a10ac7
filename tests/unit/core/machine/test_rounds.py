"""Which rounds of a loop are saved while the store is slow, and that neighbours share them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core.domain import Order, Structured
from falkirk.core.machine import rounds
from falkirk.core.machine.events import Result
from falkirk.core.machine.rounds import roundest
from falkirk.core.policy import Policy, batch, eager, lazy
from falkirk.core.times import INF
from falkirk.testing.logic import Context, Items

ROUNDS = 21
OFTEN = lazy(round_seconds=0)


class Around:
    """Passes on what it gets, and starts a new round after each of the first ones."""

    def __init__(self, edge: str, turn: int) -> None:
        """Sends on ``edge``, ``turn`` rounds later."""
        self.edge, self.turn = edge, turn

    def on_message(self, context: Context, edge: str, given: Items) -> Result:
        """Keeps what it got, and sends it."""
        epoch, round_ = context.time
        later = (epoch, round_ + self.turn)
        sends = ((self.edge, later, given),) if later[1] < ROUNDS else ()
        return Result(sends, state=(*context.own, given))

    def on_notify(self, context: Context) -> Result:
        """It asks for no notification."""
        return Result()


def loop(policy: Policy) -> Story:
    """Two processors that pass everything around; what starts a new round is logged."""
    flow = flow_of(
        {"in": batch(), "quick": policy, "slow": policy.logging("c")},
        domains={"quick": Structured(2), "slow": Structured(2)},
        a="in > quick by enter",
        b="quick > slow",
        c="slow > quick by feedback",
    )
    story = Story(flow, quick=Around("b", 0), slow=Around("c", 1))
    story.ingest("in", 5)
    story.close("in")
    return story


def go_around(story: Story, times: int) -> None:
    """So many rounds."""
    for _ in range(times):
        story.work("quick")
        story.work("slow")


def saved(story: Story, p: str) -> list[Any]:
    """The frontiers for which a checkpoint was asked."""
    return [persist.checkpoint.frontier for persist in story.saved(p)]


def test_rounds_wait_while_a_checkpoint_is_written_and_then_the_roundest_is_saved() -> None:
    """One is on its way at a time, and what is left is saved later."""
    story = loop(OFTEN)
    go_around(story, 7)
    assert saved(story, "quick") == [upto(0, 0)], "1 to 6 are complete, too, and wait"
    for _ in range(5):
        story.persist_all("quick")
    assert saved(story, "quick") == [upto(0, n) for n in (0, 3, 5, 6)]


def test_a_round_is_worth_the_time_that_it_took() -> None:
    """By default rounds are saved a second apart; one that takes no time is none of them."""
    story = loop(lazy())
    go_around(story, 3)
    assert saved(story, "quick") == []
    story.tick(1)
    assert saved(story, "quick") == [upto(0, 1)]
    story.persist_all()
    go_around(story, 3)
    assert len(saved(story, "quick")) == 1
    story.tick(1.5)
    assert len(saved(story, "quick")) == 1
    story.tick(2)
    assert saved(story, "quick") == [upto(0, 1), upto(0, 3)]


def test_one_who_goes_by_a_clock_of_its_own_needs_no_other() -> None:
    """What ``when`` says is due is saved."""
    story = loop(lazy(when=lambda completions, seconds: completions >= 2))
    go_around(story, 4)
    assert saved(story, "quick") == [upto(0, 1)]


def test_sends_that_wait_for_a_checkpoint_do_not_wait_for_another() -> None:
    """eager() saves every round at once: nobody could go on otherwise."""
    story = loop(eager())
    for _ in range(6):
        story.work()
        story.persist_all()
    assert len(saved(story, "quick")) > 2
    found = saved(story, "quick")
    assert found == [upto(0, n) for n in range(len(found))]


def go_unevenly(story: Story) -> None:
    """A checkpoint of one processor takes two rounds, one of the other four."""
    for turn in range(18):
        go_around(story, 1)
        if turn % 2 == 1:
            story.persist_all("quick")
        if turn % 4 == 2:
            story.persist_all("slow")


def test_neighbours_that_save_at_their_own_pace_share_rounds() -> None:
    """A failure in the middle of a loop costs a few rounds, not the epoch."""
    story = loop(OFTEN)
    go_unevenly(story)
    plan = story.fail("slow")
    assert plan["quick"] == plan["slow"] == upto(0, 7)
    story.settle()
    assert story.done[-1] == ("slow", (0, ROUNDS - 1))


def test_without_round_numbers_they_would_share_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """If everybody saved the last round that is complete: the rule is needed."""
    monkeypatch.setattr(rounds, "roundest", lambda domain, part, saved: part)
    story = loop(OFTEN)
    go_unevenly(story)
    assert story.fail("slow")["slow"] == upto(0, 0)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=40))
def test_every_so_many_rounds_are_saved_by_all(steps: list[int]) -> None:
    """However irregularly: who never has 2**k of them waiting saves each 2**k-th."""
    domain, last, ended, longest, chosen = Structured(2), -1, -1, 0, set[Any]()
    for step in steps:
        ended += step
        longest = max(longest, ended - last)
        before = upto(0, last) if last >= 0 else domain.empty
        last = roundest(domain, upto(0, ended), before)[1]
        chosen.add(last)
    stretch = 1 << longest.bit_length()
    assert chosen.issuperset(range(stretch - 1, last + 1, stretch))


def test_in_the_product_order_each_epoch_has_its_own_round() -> None:
    """What was saved before stays in, also where a round of its epoch is rounder."""
    domain = Structured(2, Order.PRODUCT)
    part = domain.frontier([(4, INF), (5, 8), (6, 2)])
    assert roundest(domain, part, domain.frontier([(4, INF)])) == domain.frontier(
        [(4, INF), (5, 7)]
    )
    half = domain.frontier([(4, INF), (5, 7), (6, 0)])
    assert roundest(domain, part, half) == domain.frontier([(4, INF), (5, 7), (6, 1)])
    assert roundest(domain, part, domain.frontier([(4, INF), (5, 7), (6, 1)])) == part


def test_rounds_of_an_outer_loop_come_before_those_inside() -> None:
    """Whoever takes part in the outer loop only has no other rounds to share."""
    domain = Structured(3)
    assert roundest(domain, upto(2, 5, 6), upto(2, 0, 0)) == upto(2, 3, INF)
    assert roundest(domain, upto(2, 5, 6), upto(2, 4, INF)) == upto(2, 5, 3)
