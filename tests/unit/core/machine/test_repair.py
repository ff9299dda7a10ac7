"""A person takes a running flow back: what is refused, and that a refusal changes nothing."""

from typing import Any

import pytest
from tests.unit.cli.stories import Story, shop

import falkirk as fk
from falkirk.core.domain import EPOCH
from falkirk.core.errors import RecoveryError
from falkirk.core.machine.events import GoBack, Pin, Rewind, RolledBack
from falkirk.core.machine.repair import PromiseError


@pytest.fixture
def running(tmp_path: Any) -> Any:
    story = Story(shop(fk.lazy()), tmp_path / "state")
    yield story.epochs(3)
    story.stop()


def upto(epoch: int) -> Any:
    return EPOCH.frontier([(epoch,)])


def pinned(story: Story, outputs: bool) -> dict[str, Any]:
    state = story.machine.state
    present = {p: state.monitor.watermark(p) for p in state.flow.processors}
    story.step(Pin(present, present if outputs else {}))
    return present


def standing(story: Story) -> dict[str, Any]:
    state = story.machine.state
    return {p: (each.completed, each.incarnation) for p, each in state.standing.items()}


def test_those_who_are_asked_go_back_and_the_input_reads_again(running: Story) -> None:
    present = pinned(running, outputs=True)
    running.epochs(4)
    effects = running.machine.step(GoBack({"totals": upto(4)}))
    (rolled,) = [effect for effect in effects if isinstance(effect, RolledBack)]
    assert rolled.failed == frozenset()
    assert rolled.frontiers["totals"] == rolled.frontiers["orders"] == upto(4)
    assert Rewind("orders", upto(4)) in effects
    assert running.machine.position("orders") == 5
    assert running.machine.state.monitor.watermark("written") == upto(4)
    assert present["totals"] == upto(2), "it need not be the pin itself"


def test_without_a_pin_there_is_nothing_below_the_low_watermark(running: Story) -> None:
    before = standing(running)
    with pytest.raises(RecoveryError, match="'totals' cannot go back"):
        running.machine.step(GoBack({"totals": upto(1)}))
    assert standing(running) == before


def test_what_an_output_has_shown_is_in_the_way(running: Story) -> None:
    present = pinned(running, outputs=False)
    running.epochs(2)
    before = standing(running)
    with pytest.raises(RecoveryError, match=r"the output 'written' cannot go back.*released"):
        running.machine.step(GoBack({"totals": present["totals"]}))
    assert standing(running) == before


def test_nobody_goes_below_what_was_promised(running: Story) -> None:
    present = pinned(running, outputs=True)
    running.epochs(2)
    before = standing(running)
    with pytest.raises(PromiseError, match="further than"):
        running.machine.step(GoBack({"totals": present["totals"]}, {"orders": upto(4)}))
    assert standing(running) == before


def test_what_a_pin_held_back_is_let_go_with_it(running: Story) -> None:
    pinned(running, outputs=True)
    running.epochs(2)
    ledger = running.machine.state.ledgers["totals"]
    assert ledger.base.frontier == upto(2)
    shown = len(running.released)
    running.step(Pin({}))
    assert ledger.base.frontier == upto(4)
    assert running.released[shown:] == [("written", (3,)), ("written", (4,))]
