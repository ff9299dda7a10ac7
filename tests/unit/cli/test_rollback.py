"""``falkirk rollback``: a plan first, then exactly that plan; never what was shown to anybody."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.cli.stories import Make, Story, falkirk, position, shop
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.cli.main import main
from falkirk.core.errors import ConfigurationError, RecoveryError, StoreError
from falkirk.core.machine.events import Result, Work
from falkirk.inspection.look import look_at
from falkirk.runtime.watching import Watcher

TO = ("rollback", "--store", "state", "--to")
DO = ("--yes", "--reason", "bad prices")


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 12 epochs of which nothing was released: no monitor has agreed."""
    place = tmp_path_factory.mktemp("twelve") / "state"
    Story(shop(), place, embedded=False).epochs(12).stop()
    return place


@pytest.fixture
def window(twelve: Path) -> None:
    """A copy of that store, to go back in."""
    shutil.copytree(twelve, "state")


def frontiers() -> dict[str, str]:
    look = look_at("state")
    return {p: repr(frontier) for p, frontier in look.solution.frontiers.items()}


def test_everybody_goes_back_as_far_as_it_must_and_no_further(window: None) -> None:
    assert frontiers() == dict.fromkeys(("orders", "sold", "totals", "written"), "↓(9)")
    assert falkirk(*TO, "totals@7", *DO).exit_code == 0
    assert frontiers() == dict.fromkeys(("orders", "sold", "totals", "written"), "↓(4)")


def test_the_next_run_goes_on_from_there(window: None, story: Make) -> None:
    falkirk(*TO, "totals@7", *DO)
    begun = story(embedded=False)
    assert position(begun, "orders") == 5
    begun.epochs(5)
    assert frontiers()["written"] == "↓(9)"


def test_one_that_logs_before_it_stays_where_it_is(story: Make) -> None:
    story(shop(fk.lazy(), orders=fk.batch()), embedded=False).epochs(6).stop()
    assert falkirk(*TO, "totals@2", *DO).exit_code == 0
    assert frontiers() == {
        "orders": "↓(5)",
        "sold": "↓(2)",
        "totals": "↓(2)",
        "written": "↓(2)",
    }


def test_a_stateless_processor_can_be_named_too(story: Make) -> None:
    story(shop(fk.lazy()), embedded=False).epochs(6).stop()
    assert falkirk(*TO, "sold@3", *DO).exit_code == 0
    assert set(frontiers().values()) == {"↓(3)"}


def test_back_to_the_start(window: None) -> None:
    assert falkirk(*TO, "totals@start", *DO).exit_code == 0
    assert set(frontiers().values()) == {"∅"}


def test_a_dry_run_changes_nothing(window: None) -> None:
    before = look_at("state").fingerprint
    result = falkirk(*TO, "totals@7", "--dry-run")
    assert result.exit_code == 0
    assert "goes back to epoch 4" in result.output
    assert "epoch 5 to epoch 11" in result.output
    assert look_at("state").fingerprint == before


def test_a_saved_plan_is_carried_out_exactly(window: None) -> None:
    falkirk(*TO, "totals@7", "--save", "plan.json")
    plan = json.loads(Path("plan.json").read_text())
    assert look_at("state").fingerprint == plan["fingerprint"]
    result = falkirk("rollback", "--store", "state", "--plan", "plan.json", *DO, "--json")
    assert result.exit_code == 0
    assert json.loads(result.output) == {**plan, "applied": True}
    kept = {p: f["total"] for p, f in plan["frontiers"].items()}
    assert {p: list(f) for p, f in look_at("state").solution.frontiers.items() if p in kept} == kept


def test_a_stale_plan_is_refused_and_nothing_happens(window: None, story: Make) -> None:
    falkirk(*TO, "totals@7", "--save", "plan.json")
    story(embedded=False).epochs(1).stop()
    before = look_at("state").fingerprint
    result = falkirk("rollback", "--store", "state", "--plan", "plan.json", *DO)
    assert result.exit_code == 3
    assert "has changed since the plan was made" in result.output
    after = look_at("state")
    assert after.fingerprint == before
    assert after.audit == ()


def test_a_plan_is_carried_out_once(window: None) -> None:
    falkirk(*TO, "totals@7", "--save", "plan.json")
    again = ("rollback", "--store", "state", "--plan", "plan.json", *DO)
    assert [falkirk(*again).exit_code, falkirk(*again).exit_code] == [0, 3]


def test_it_is_noted_who_did_what_and_why(window: None) -> None:
    falkirk(*TO, "totals@7", *DO)
    (entry,) = json.loads(falkirk("audit", "--store", "state", "--json").output)["entries"]
    assert entry["what"] == "rollback"
    assert entry["to"] == {"totals": "epoch 7"}
    assert entry["why"] == "bad prices"
    assert "@" in entry["who"]
    assert entry["moved"]["written"] == "epoch 4"
    assert "bad prices" in falkirk("audit", "--store", "state").output


def test_the_files_of_what_was_undone_go(window: None) -> None:
    before = json.loads(falkirk("status", "--store", "state", "--json").output)
    falkirk(*TO, "totals@7", *DO)
    after = json.loads(falkirk("status", "--store", "state", "--json").output)
    assert after["files"] < before["files"]
    assert (
        json.loads(falkirk("gc", "--dry-run", "--store", "state", "--json").output)["orphans"][
            "files"
        ]
        == 0
    )


def test_a_live_flow_is_asked_and_one_that_does_not_answer_is_left_alone(story: Make) -> None:
    begun = story(shop(fk.lazy()), embedded=False).epochs(3)
    plan = json.loads(falkirk(*TO, "totals@1", "--dry-run", "--json").output)
    assert plan["running"]
    assert plan["bounds"] == {"totals": {"total": [1]}}
    before = look_at("state").fingerprint
    result = falkirk(*TO, "totals@1", *DO, "--timeout", "0.3")
    assert isinstance(result.exception, StoreError)
    assert "has not answered within 0.3 s" in str(result.exception)
    assert look_at("state").fingerprint == before
    assert begun.store.noticeboard.requests() == [], "it was taken back"


def test_a_plan_for_a_stopped_flow_is_stale_once_it_runs(window: None, story: Make) -> None:
    falkirk(*TO, "totals@7", "--save", "plan.json")
    story(embedded=False)
    result = falkirk("rollback", "--store", "state", "--plan", "plan.json", *DO)
    assert result.exit_code == 3
    assert "was started since the plan was made" in result.output


def test_what_a_flow_released_by_itself_is_never_undone(story: Make) -> None:
    begun = story().epochs(8)
    begun.stop()
    assert begun.released[-1] == ("written", (4,))
    result = falkirk(*TO, "written@3", *DO)
    assert isinstance(result.exception, RecoveryError)
    assert "it has released up to epoch 4" in str(result.exception)
    result = falkirk(*TO, "totals@3", *DO)
    assert "older state and logs than epoch 4 are gone" in str(result.exception)
    result = falkirk(*TO, "orders@3", *DO)
    assert "its source was told that it may forget up to epoch 4" in str(result.exception)
    assert frontiers()["written"] == "↓(4)"


def test_below_what_a_monitor_has_posted_nothing_goes_back(window: None) -> None:
    with_monitor()
    result = falkirk(*TO, "totals@7", *DO)
    assert isinstance(result.exception, RecoveryError)
    assert "epoch 9" in str(result.exception)


def staying_behind(story: Make, epochs: int) -> Watcher:
    """A monitor that has looked at each epoch of a flow, which has stopped."""
    begun = story(shop(fk.lazy()), embedded=False)
    watcher = Watcher(begun.store.noticeboard, behind=epochs)
    for _ in range(12):
        begun.epochs(1)
        watcher.look()
    begun.stop()
    return watcher


def test_a_monitor_that_stays_behind_keeps_a_window(story: Make) -> None:
    staying_behind(story, 4)
    posted = {p: repr(f) for p, f in look_at("state").posted.items()}
    assert posted == dict.fromkeys(("orders", "sold", "totals", "written"), "↓(7)")
    assert isinstance(falkirk(*TO, "totals@6", *DO).exception, RecoveryError)
    assert falkirk(*TO, "totals@8", *DO).exit_code == 0
    assert frontiers()["written"] == "↓(8)"


def test_a_monitor_forgets_what_a_person_went_below(story: Make) -> None:
    watcher = staying_behind(story, 9)
    known = len(watcher.older)
    assert falkirk(*TO, "orders@5", *DO).exit_code == 0
    watcher.look()
    low = watcher.watermarks()
    assert 0 < len(watcher.older) < known
    assert all(each[p] <= low[p] for each in watcher.older for p in low)
    assert set(watcher.board.watermarks()) == {"orders", "totals", "written"}, "sold keeps nothing"


def with_monitor() -> None:
    falkirk("monitor", "--store", "state", "--once")


@pytest.mark.parametrize("name", ["orders", "sold", "totals", "written"])
@pytest.mark.parametrize("epoch", [12, 999])
def test_a_time_that_has_not_come_is_told(window: None, name: str, epoch: int) -> None:
    before = look_at("state").fingerprint
    result = falkirk(*TO, f"{name}@{epoch}", *DO)
    assert isinstance(result.exception, ConfigurationError)
    said = (
        f"{name!r} has reached epoch 11 by what the store holds, and epoch {epoch} is beyond that"
    )
    assert f"{said}: nothing of it would be undone" in str(result.exception)
    assert look_at("state").fingerprint == before


def test_one_of_several_that_has_not_come_is_told(window: None) -> None:
    result = falkirk(*TO, "orders@3", "--to", "totals@99", *DO)
    assert "'totals' has reached epoch 11" in str(result.exception)
    assert frontiers()["orders"] == "↓(9)"


@pytest.mark.parametrize("to", ["orders@11", "totals@9", "totals@10", "totals@11", "sold@11"])
def test_where_somebody_is_there_is_nothing_to_do(window: None, to: str) -> None:
    """Outputs have completed what totals has not saved, so it has been there."""
    before = look_at("state").fingerprint
    result = falkirk(*TO, to, *DO)
    assert result.exit_code == 0
    assert "Nothing to do" in result.output
    assert look_at("state").fingerprint == before


def test_a_time_that_has_not_come_ends_with_a_status(
    window: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["falkirk", *TO, "totals@999", "--dry-run"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "[FK500] 'totals' has reached epoch 11" in capsys.readouterr().err


class Rounds(Story):
    """Three rounds an epoch."""

    def worked(self, work: Work) -> Result:
        found = super().worked(work)
        return replace(found, sends=()) if work.time[1:] > (2,) else found


@pytest.mark.parametrize("order", ["lex", "product"])
def test_in_a_loop_frontiers_are_compared(tmp_path: Path, order: str) -> None:
    flow = fk.Dataflow("loops")
    read = flow.read(Source(), name="orders")
    inner = read.iterate(lambda inner: inner.where("a"), name="loop", order=order)
    inner.write(Sink(), name="looped")
    Rounds(flow, tmp_path / "state", embedded=False).epochs(3).stop()
    assert "'loop' has reached epoch 2 by" in str(falkirk(*TO, "loop@5", "--dry-run").exception)
    assert "Nothing to do" in falkirk(*TO, "loop@2", "--dry-run").output
    later = falkirk(*TO, "loop@5.1", "--dry-run")
    if order == "lex":
        assert "epoch 5 round 1 is beyond that" in str(later.exception)
    else:
        assert later.exit_code == 0, "the later rounds of earlier epochs are outside"
        assert "starts from nothing" in later.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--to", "totals@7"), "--reason"),
        (("--to", "totals@7", "--reason", "x"), "--yes"),
        (("--to", "totals"), "PROCESSOR@TIME"),
        (("--to", "total@3"), "did you mean 'totals'?"),
        (("--to", "totals@soon"), "is not EPOCH"),
        (("--to", "totals@3.1"), "is not EPOCH"),
        (("--to", "totals@-1"), "is not EPOCH"),
    ],
)
def test_mistakes_are_told(window: None, arguments: tuple[str, ...], complaint: str) -> None:
    before = look_at("state").fingerprint
    result = falkirk("rollback", "--store", "state", *arguments)
    assert isinstance(result.exception, ConfigurationError)
    assert complaint in str(result.exception)
    assert look_at("state").fingerprint == before


def test_something_that_is_no_plan(window: None) -> None:
    Path("plan.json").write_text("{}")
    result = falkirk("rollback", "--store", "state", "--plan", "plan.json", *DO)
    assert isinstance(result.exception, StoreError)
    assert "plan.json is no plan" in str(result.exception)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--to", "totals@7", "--plan", "plan.json"),
        ("--to", "totals@7", "--to-pin", "may"),
    ],
)
def test_either_a_time_or_a_pin_or_a_plan(window: None, arguments: tuple[str, ...]) -> None:
    Path("plan.json").write_text("{}")
    assert falkirk("rollback", "--store", "state", *arguments).exit_code == 2
