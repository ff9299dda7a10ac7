"""``falkirk pin``, ``pins``, ``unpin``: a moment is kept until it is let go, whoever runs."""

import json
from typing import Any

import pytest
from tests.unit.cli.stories import Make, falkirk, shop
from tests.unit.dataflow.ends import Source

import falkirk as fk
from falkirk.core.domain import EPOCH
from falkirk.core.errors import ConfigurationError, RecoveryError, StoreError
from falkirk.core.machine.state import State
from falkirk.inspection.look import look_at, opened

pytestmark = pytest.mark.slow

STORE = ("--store", "state")
DO = ("--yes", "--reason", "bad prices")


def told(*arguments: str) -> Any:
    result = falkirk(*arguments, *STORE, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def low() -> dict[str, str]:
    return {p: repr(frontier) for p, frontier in look_at("state").solution.frontiers.items()}


def floor(p: str) -> str:
    return repr(look_at("state").stored[p].ledger.base.frontier)


def test_what_is_pinned_is_kept_however_far_the_flow_goes_on(story: Make) -> None:
    story(shop(fk.lazy())).epochs(4).stop()
    assert told("pin", "may", "--why", "new prices")["frontiers"]["totals"]["words"] == "epoch 3"
    for _ in range(2):
        story(shop(fk.lazy())).epochs(10).stop()
    assert low()["totals"] == "↓(23)"
    assert floor("totals") == floor("orders") == floor("written") == "↓(3)"
    rows = told("state", "totals@may")["rows"]
    assert rows == told("state", "totals", "--at", "3")["rows"] == 4
    assert told("state", "totals", "--at", "may")["rows"] == 4


def test_what_was_pinned_is_collected_once_it_is_let_go(story: Make) -> None:
    story(shop(fk.lazy())).epochs(4).stop()
    told("pin", "may")
    story(shop(fk.lazy())).epochs(10).stop()
    told("unpin", "may", "--why", "all is well")
    story(shop(fk.lazy())).epochs(1).stop()
    assert floor("totals") == floor("orders") == "↓(14)"
    refused = falkirk("state", "totals@3", *STORE).exception
    assert isinstance(refused, StoreError)
    assert "`falkirk pin NAME`" in str(refused)
    assert [entry["what"] for entry in told("audit")["entries"]] == ["pin may", "unpin may"]


def test_it_is_the_bound_that_keeps_it(story: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "collectable", lambda self, p: self.monitor.watermark(p))
    story(shop(fk.lazy())).epochs(4).stop()
    told("pin", "may")
    story(shop(fk.lazy())).epochs(4).stop()
    assert floor("totals") == "↓(7)"


def test_everything_goes_back_to_a_pin_that_held_outputs(story: Make) -> None:
    story(shop(fk.lazy())).epochs(4).stop()
    told("pin", "may", "--hold-outputs")
    run = story(shop(fk.lazy())).epochs(10)
    run.stop()
    assert run.released == [], "they were shown before, and nothing since"
    assert falkirk("rollback", "--to-pin", "may", *DO, *STORE).exit_code == 0
    assert set(low().values()) == {"↓(3)"}
    again = story(shop(fk.lazy())).epochs(2)
    again.stop()
    told("unpin", "may")
    free = story(shop(fk.lazy()))
    free.stop()
    assert [time for _, time in free.released] == [(4,), (5,)]


def test_what_an_output_has_shown_since_is_never_undone(story: Make) -> None:
    story(shop(fk.lazy())).epochs(4).stop()
    told("pin", "may")
    story(shop(fk.lazy())).epochs(4).stop()
    refused = falkirk("rollback", "--to-pin", "may", *DO, *STORE).exception
    assert isinstance(refused, RecoveryError)
    assert "the output 'written' cannot go back" in str(refused)
    assert "`falkirk pin NAME --hold-outputs`" in str(refused)


def test_an_output_that_can_take_back_what_it_showed_is_told_to(story: Make) -> None:
    flow = fk.Dataflow("shop")
    read = flow.read(Source(), name="orders")
    counted = read.group_by("item").count(name="totals", policy=fk.lazy())
    counted.write(fk.ParquetSink("out"), name="written")
    story(flow).epochs(4).stop()
    told("pin", "may")
    story(flow).epochs(4).stop()
    assert told("rollback", "--to-pin", "may", "--dry-run")["undo"] == ["written"]
    assert falkirk("rollback", "--to-pin", "may", *DO, *STORE).exit_code == 0
    assert low()["written"] == "↓(3)"
    with opened("state") as store:
        assert store.noticeboard.undone() == {"written": EPOCH.frontier([(3,)])}


def test_a_rollback_to_before_a_pin_takes_it_along(story: Make) -> None:
    story(shop(fk.lazy())).epochs(2).stop()
    told("pin", "early", "--hold-outputs")
    story(shop(fk.lazy())).epochs(4).stop()
    told("pin", "late")
    plan = told("rollback", "--to-pin", "early", "--dry-run")
    assert plan["pins"] == ["late"]
    assert falkirk("rollback", "--to-pin", "early", *DO, *STORE).exit_code == 0
    assert [pin["name"] for pin in told("pins")["pins"]] == ["early"]
    (recovery,) = told("recoveries")["recoveries"]
    assert (recovery["kind"], recovery["moved"][0]["to"]) == ("repair", "epoch 1")
    assert "bad prices" in falkirk("recoveries", *STORE).output


def test_an_older_time_can_be_pinned_where_a_pin_keeps_it(story: Make) -> None:
    story(shop(fk.lazy())).epochs(2).stop()
    told("pin", "early")
    story(shop(fk.lazy())).epochs(6).stop()
    assert told("pin", "later", "--at", "totals@4")["frontiers"]["orders"]["words"] == "epoch 4"
    refused = falkirk("pin", "first", "--at", "totals@0", *STORE).exception
    assert isinstance(refused, RecoveryError)
    missed = falkirk("rollback", "--to", "totals@latr", *STORE).exception
    assert "nor is there a pin 'latr': did you mean 'later'?" in str(missed)
    assert "not PROCESSOR@TIME" in str(falkirk("rollback", "--to", "totals", *STORE).exception)
    held = falkirk("pin", "x", "--at", "totals@4", "--hold-outputs", *STORE).exception
    assert isinstance(held, ConfigurationError)


def test_a_time_that_has_not_come_cannot_be_pinned(story: Make) -> None:
    story(shop(fk.lazy())).epochs(4).stop()
    for how in ((), ("--dry-run",)):
        refused = falkirk("pin", "later", "--at", "totals@99", *how, *STORE).exception
        assert isinstance(refused, ConfigurationError)
        assert "'totals' has reached epoch 3" in str(refused)
        assert "epoch 99 is beyond that" in str(refused)
    assert told("pins")["pins"] == told("audit")["entries"] == []
    assert told("pin", "now", "--at", "totals@3")["frontiers"]["totals"]["words"] == "epoch 3"


def test_the_cost_is_what_lies_between_pin_and_low_watermark(story: Make) -> None:
    story(shop(fk.lazy(), orders=fk.batch())).epochs(2).stop()
    told("pin", "early", "--why", "first")
    (pin,) = told("pins")["pins"]
    assert pin["cost"]["epochs"] == pin["cost"]["bytes"] == 0
    story(shop(fk.lazy(), orders=fk.batch())).epochs(5).stop()
    told("pin", "late")
    story(shop(fk.lazy(), orders=fk.batch())).epochs(1).stop()
    early, late = (pin["cost"] for pin in told("pins")["pins"])
    assert (early["epochs"], late["epochs"]) == (6, 1)
    assert early["bytes"] > early["alone_bytes"] == early["bytes"] - late["bytes"] > 0
    assert late["alone_bytes"] == 0, "the older one keeps that, too"
    kept = told("gc", "--explain")["kept"]
    (log,) = [each for each in kept if each["what"] == "pinned log on orders>sold"]
    assert log["reason"] == ["pin early", "pin late"]
    assert "pin early holds back" in falkirk("status", *STORE).output
    assert "first" in falkirk("pins", *STORE).output


def test_a_dry_run_changes_nothing(story: Make) -> None:
    story(shop(fk.lazy())).epochs(2).stop()
    assert told("pin", "may", "--dry-run")["pinned"] is False
    assert told("pins")["pins"] == told("audit")["entries"] == []
    told("pin", "may")
    assert told("unpin", "may", "--dry-run")["pinned"] is True
    assert len(told("pins")["pins"]) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("pin", "may"), "there is a pin 'may' already"),
        (("pin", "4"), "no name for a pin"),
        (("pin", "start"), "no name for a pin"),
        (("unpin", "mai"), "did you mean 'may'?"),
        (("rollback", "--to-pin", "june"), "there is no pin 'june'"),
    ],
)
def test_mistakes_are_told(story: Make, arguments: tuple[str, ...], complaint: str) -> None:
    story(shop(fk.lazy())).epochs(2).stop()
    told("pin", "may")
    refused = falkirk(*arguments, *STORE).exception
    assert isinstance(refused, ConfigurationError)
    assert complaint in str(refused)
