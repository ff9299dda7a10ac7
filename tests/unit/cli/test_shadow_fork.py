"""What a changed flow keeps of a live store, and what it does again."""

import json
import shutil
from pathlib import Path

import pytest
from tests.unit.cli.shadows import (
    ALL,
    Kept,
    begun,
    ends,
    forget_ends,
    fork,
    frontiers,
    shop,
)
from tests.unit.cli.stories import Make, Story, falkirk, position
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.errors import ConfigurationError, RecoveryError, StoreError
from falkirk.inspection.look import look_at, opened
from falkirk.inspection.shadow.dropping import drop
from falkirk.inspection.shadow.ends import End
from falkirk.inspection.shadow.facts import identity_in, shadows
from falkirk.inspection.shadow.starting import Wish, prospect_of, start_shadow

pytestmark = pytest.mark.slow


def test_an_unchanged_flow_keeps_everything_and_the_live_store_is_as_it_was(story: Make) -> None:
    begun(story)
    before = look_at("state").fingerprint, sorted(Path("state/data").iterdir())
    found = fork(shop())
    assert not any(part.again for part in found.parts)
    assert frontiers("shadow") == frontiers("state") == dict.fromkeys(ALL, "↓(5)")
    assert (look_at("state").fingerprint, sorted(Path("state/data").iterdir())) == before
    with opened("state") as live, opened("shadow") as own:
        assert identity_in(live) is None
        assert own.identity != live.identity


def test_a_fork_goes_on_by_itself_when_the_live_store_is_gone(story: Make, tmp_path: Path) -> None:
    begun(story)
    fork(shop())
    shutil.rmtree("state")
    own = Story(shop(), tmp_path / "shadow")
    try:
        assert own.store.load(own.flow, lambda reference, label: None, verify=True)
        assert not own.store.damages
        assert position(own, "orders") == 6
        own.epochs(2)
        assert own.released == [("written", (6,)), ("written", (7,))]
    finally:
        own.stop()


def test_what_changed_starts_from_nothing_and_all_behind_it(story: Make) -> None:
    begun(story, embedded=False)
    found = fork(shop("amount > 1"))
    assert {part.processor: part.change for part in found.parts} == {
        "orders": "same",
        "sold": "code",
        "totals": "same",
        "written": "same",
    }
    assert set(frontiers("shadow").values()) == {"∅"}
    assert [end.position for end in ends("orders")] == [1, 2, 3, 4, 5, 6]
    assert all(end.first == end.epoch for end in ends("orders"))


def test_a_log_feeds_what_starts_again(story: Make, tmp_path: Path) -> None:
    begun(story, shop(orders=fk.batch()), embedded=False)
    found = fork(shop("amount > 1", orders=fk.batch()))
    assert found.resent == ("orders>sold",)
    assert frontiers("shadow") == {**dict.fromkeys(ALL, "∅"), "orders": "↓(5)"}
    own = Story(shop("amount > 1", orders=fk.batch()), tmp_path / "shadow")
    try:
        assert position(own, "orders") == 6
        assert len(own.machine.state.channels.queues["orders>sold"]) == 6  # type: ignore[index]
    finally:
        own.stop()


def test_what_was_collected_of_a_log_counts_as_discarded(story: Make) -> None:
    begun(story, shop(orders=fk.batch()))
    forget_ends()
    found = fork(shop("amount > 1", orders=fk.batch()))
    assert found.resent == ()
    assert [(each.input, each.how, each.joined) for each in found.inputs] == [
        ("orders", "again", 5)
    ]


def test_an_input_is_read_again_epoch_by_epoch(story: Make, tmp_path: Path) -> None:
    begun(story)
    found = fork(shop("amount > 1"))
    assert [(each.how, each.joined) for each in found.inputs] == [("again", 0)]
    assert ends("orders") == [End(n, n, n + 1) for n in range(6)]
    own = Story(shop("amount > 1"), tmp_path / "shadow")
    try:
        assert own.machine.state.standing["orders"].epoch == 0  # type: ignore[index]
    finally:
        own.stop()


def test_an_input_that_is_read_again_takes_the_forgotten_epochs_as_one(
    story: Make, tmp_path: Path
) -> None:
    begun(story)
    forget_ends()
    fork(shop("amount > 1"))
    assert ends("orders") == [End(5, 0, 6)]
    own = Story(shop("amount > 1"), tmp_path / "shadow")
    try:
        assert own.machine.state.standing["orders"].epoch == 5  # type: ignore[index]
        assert position(own, "orders") == 0
        own.epochs(1)
        assert own.released == [("written", (5,))]
    finally:
        own.stop()


def test_an_input_that_was_acknowledged_and_cannot_be_read_again_is_named(story: Make) -> None:
    class Passing(Source):
        shared = True

    begun(story, shop(source=Passing()))
    changed = shop("amount > 1", source=Passing())
    with pytest.raises(RecoveryError, match=r"input 'orders' \(Passing\).*from the start.*'sold'"):
        fork(changed)
    assert not Path("shadow").exists()
    assert not fork(changed, keep=("sold",)).parts[0].again


def test_an_input_whose_rows_the_live_flow_takes_is_named(story: Make) -> None:
    begun(story, shop(source=Source()))
    with pytest.raises(RecoveryError, match=r"input 'orders' \(Source\) cannot be read beside"):
        fork(shop(source=Source()))
    assert fork(shop(source=Source()), reread=("orders",))


def test_a_processor_can_keep_its_state_though_its_code_changed(story: Make) -> None:
    begun(story)
    found = fork(shop("amount > 1"), keep=("sold",))
    assert found.parts[1].change == "kept"
    assert set(frontiers("shadow").values()) == {"↓(5)"}


def test_a_processor_of_another_shape_cannot_keep_its_state(story: Make) -> None:
    begun(story)
    with pytest.raises(ConfigurationError, match=r"'totals' cannot keep.*regime"):
        fork(shop(totals=fk.eager()), keep=("totals",))


def test_an_older_store_does_not_know_the_code_so_all_of_it_starts_again(story: Make) -> None:
    begun(story)
    with opened("state") as store, store.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM facts WHERE name = 'about'")
    found = prospect_of(shop().build(), "state", "shadow", Wish())
    assert "does not know its code" in found.parts[1].because


def test_a_fork_at_an_earlier_time(story: Make) -> None:
    begun(story, embedded=False)
    fork(shop(), at=("totals@2",))
    assert set(frontiers("shadow").values()) == {"↓(2)"}
    assert [end.epoch for end in ends("orders")] == [3, 4, 5]


def test_a_fork_at_a_pin(story: Make) -> None:
    story(shop(), embedded=False).epochs(3).stop()
    assert falkirk("pin", "before", "--store", "state").exit_code == 0
    begun(story, embedded=False)
    assert set(frontiers("state").values()) == {"↓(8)"}
    fork(shop(), pin="before")
    assert set(frontiers("shadow").values()) == {"↓(2)"}
    assert [end.epoch for end in ends("orders")] == [3, 4, 5, 6, 7, 8]
    with pytest.raises(ConfigurationError, match="no pin 'befor'"):
        prospect_of(shop().build(), "state", "other", Wish(pin="befor"))


def test_processors_come_and_go(story: Make) -> None:
    begun(story)
    flow = fk.Dataflow("shop")
    read = flow.read(Kept(), name="orders")
    read.where("amount < 0", name="returned").write(Sink(), name="returns")
    found = fork(flow)
    assert found.removed == ("sold", "totals", "written")
    assert {part.processor: part.change for part in found.parts} == {
        "orders": "same",
        "returned": "new",
        "returns": "new",
    }


def test_a_dry_run_makes_nothing(story: Make) -> None:
    begun(story)
    forget_ends()
    Path("app.py").write_text(
        "import falkirk as fk\nfrom tests.unit.cli.shadows import shop\nflow = shop('amount > 1')\n"
    )
    result = falkirk("shadow", "start", "app.py", "--store", "state", "--shadow", "s", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "starts from nothing" in result.output
    assert "nothing was made" in result.output
    assert "epochs 0 to 5 as one" in result.output
    assert not Path("s").exists()


def test_a_shadow_is_a_folder_of_a_store_that_lasts(story: Make) -> None:
    begun(story)
    with pytest.raises(StoreError, match="the shadow is no folder"):
        start_shadow(shop().build(), "state", "postgresql://db/x?data=d", Wish(), "")
    with pytest.raises(StoreError, match="in memory"):
        start_shadow(shop().build(), "memory:", "shadow", Wish(), "")


def test_shadows_are_listed_and_dropped(story: Make) -> None:
    begun(story)
    fork(shop())
    listed = json.loads(falkirk("shadow", "list", "--store", "state", "--json").output)
    assert [each["shadow"] for each in listed["shadows"]] == [str(Path("shadow").resolve())]
    drop("shadow", "enough")
    assert not list(shadows("state"))
    assert look_at("state").audit[-1]["why"] == "enough"
