"""Forks of a store: what a changed flow keeps, what it does again, and how it takes over."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.cli.stories import Make, Story, falkirk, position
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.errors import ConfigurationError, RecoveryError, StoreError
from falkirk.core.machine.events import Close, Ingest
from falkirk.core.policy import Policy
from falkirk.core.times import ProcessorId
from falkirk.dataflow import Dataflow
from falkirk.inspection.look import look_at, opened
from falkirk.inspection.shadow import promoting
from falkirk.inspection.shadow.comparing import compare, spans_of
from falkirk.inspection.shadow.dropping import drop
from falkirk.inspection.shadow.ends import End, read_ends
from falkirk.inspection.shadow.facts import identity_in, recorded, shadow_at, shadows
from falkirk.inspection.shadow.following import Followed, Trail
from falkirk.inspection.shadow.starting import Prospect, Wish, prospect_of, start_shadow

ALL = ("orders", "sold", "totals", "written")


class Kept(Source):
    """A source that can be read again from the start, also by others."""

    keeps = True

    def initial(self) -> Any:
        return 0


def shop(
    condition: str = "amount > 0",
    orders: Policy | None = None,
    totals: Policy | None = None,
    source: Source | None = None,
) -> Dataflow:
    """orders → sold → totals → written."""
    flow = fk.Dataflow("shop")
    read = flow.read(source or Kept(), name="orders", policy=orders or fk.lazy())
    sold = read.where(condition, name="sold")
    kept = sold.group_by("item").count(name="totals", policy=totals or fk.lazy())
    kept.write(Sink(), name="written")
    return flow


def fork(flow: Dataflow, **wish: Any) -> Prospect:
    return start_shadow(flow.build(), "state", "shadow", Wish(**wish), "a test")


def frontiers(place: str) -> dict[str, str]:
    return {p: repr(f) for p, f in look_at(place).solution.frontiers.items()}


def ends(p: str) -> list[End]:
    with opened("shadow") as store, store.database.reading() as connection:
        return read_ends(connection, p)  # type: ignore[arg-type]


def begun(story: Make, flow: Dataflow | None = None, **options: Any) -> Story:
    live = story(flow or shop(), **options).epochs(6)
    live.stop()
    return live


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


def forget_ends() -> None:
    """The live store is one that remembers no ends of what it has folded."""
    with opened("state") as store, store.database.writing() as connection:
        gone = connection.exec_driver_sql("DELETE FROM facts WHERE name LIKE 'end:%'")
        assert gone.rowcount == 6


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
        "import falkirk as fk\n"
        "from tests.unit.cli.test_shadow import shop\n"
        "flow = shop('amount > 1')\n"
    )
    result = falkirk("shadow", "start", "app.py", "--store", "state", "--shadow", "s", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "starts from nothing" in result.output
    assert "nothing was made" in result.output
    assert "epochs 0 to 5 as one" in result.output
    assert not Path("s").exists()


def test_stores_that_are_no_folders_are_refused(story: Make) -> None:
    begun(story)
    with pytest.raises(StoreError, match="SQLite"):
        start_shadow(shop().build(), "postgresql://db/x?data=d", "shadow", Wish(), "")
    with pytest.raises(StoreError, match="SQLite"):
        start_shadow(shop().build(), "state", "postgresql://db/x?data=d", Wish(), "")


def test_shadows_are_listed_and_dropped(story: Make) -> None:
    begun(story)
    fork(shop())
    listed = json.loads(falkirk("shadow", "list", "--store", "state", "--json").output)
    assert [each["shadow"] for each in listed["shadows"]] == [str(Path("shadow").resolve())]
    drop("shadow", "enough")
    assert not list(shadows("state"))
    assert look_at("state").audit[-1]["why"] == "enough"


# Comparing.


def test_epochs_that_became_one_are_compared_as_one() -> None:
    assert spans_of([], 2, 4) == [(2, 2), (3, 3), (4, 4)]
    assert spans_of([End(3, 1, None), End(4, 4, None)], 0, 5) == [(0, 0), (1, 3), (4, 4), (5, 5)]
    assert spans_of([End(3, 1, None), End(4, 2, None)], 0, 4) == [(0, 0), (1, 4)]
    assert spans_of([End(9, 3, None)], 0, 5) == [(0, 0), (1, 1), (2, 2)]


def epoch(folder: Path, number: int, *values: int) -> None:
    there = folder / f"epoch={number}"
    there.mkdir(parents=True)
    pq.write_table(pa.table({"value": list(values)}), there / "part-0.parquet")


def played(tmp_path: Path, flow: Dataflow, epochs: int) -> None:
    """The shadow does some epochs, and records one row for each."""
    own = Story(flow, tmp_path / "shadow").epochs(epochs)
    for _, (number,) in own.released:
        epoch(recorded("shadow", "written"), number, number)
    own.stop()


def test_rows_are_compared_as_bags(story: Make, tmp_path: Path) -> None:
    story(shop()).epochs(3).stop()
    fork(shop())
    played(tmp_path, shop(), 3)
    story(shop()).epochs(3).stop()
    shown = tmp_path / "shown"
    epoch(shown, 3, 3)
    epoch(shown, 4, 4, 4)
    (found,) = compare("shadow", {"written": str(shown)}).outputs
    assert (found.first, found.last, found.equal) == (3, 5, 1)
    assert (found.only_live, found.only_shadow) == (1, 1)
    assert [(span.first, span.rows.live_sample) for span in found.spans] == [
        (4, ({"value": 4},)),
        (5, ()),
    ]
    assert falkirk("shadow", "compare", "--store", "shadow").exit_code == 0


def test_an_output_that_is_nowhere_to_be_found_is_not_comparable(story: Make) -> None:
    begun(story)
    fork(shop("amount > 1"))
    (found,) = compare("shadow").outputs
    assert not found.comparable
    assert "--live OUTPUT=FOLDER" in found.why


# Promoting.


def promoted(story: Make, tmp_path: Path, flow: Dataflow) -> list[Any]:
    """What the promoted flow shows when it runs in the live one's place."""
    after = story(flow)
    shown = [time for _, time in after.released]
    assert look_at("state").audit[-1]["why"] == "better"
    after.epochs(1)
    return shown + [time for _, time in after.released[len(shown) :]]


def test_a_promoted_shadow_shows_what_the_live_flow_has_not(story: Make, tmp_path: Path) -> None:
    begun(story)
    with opened("state") as live:
        identity = live.identity
    fork(shop("amount > 1"), keep=("sold",))
    played(tmp_path, shop("amount > 1"), 3)
    found = promoting.promote("shadow", "better", "old")
    assert [(each.shown, each.recorded) for each in found.outputs] == [(5, 8)]
    assert not Path("shadow").exists()
    with opened("state") as live, opened("old") as old:
        assert identity_in(live) == identity != identity_in(old)
        assert "set aside" in look_at("old").audit[-1]["what"]
        (output,) = [p for p in look_at("state").stored if p == "written"]
        records = look_at("state").stored[output].ledger.records
        assert sorted(records) == [(6,), (7,), (8,)]
        references = {each.name: each for each in live.references()}
        rows = [
            live.files.read(references[batch["name"]]).to_pydict()
            for time in sorted(records)
            for batch in records[time].state
        ]
        assert rows == [{"value": [6]}, {"value": [7]}, {"value": [8]}]
    shown = promoted(story, tmp_path, shop("amount > 1"))
    assert shown == [(6,), (7,), (8,), (9,)]


def test_what_the_live_flow_may_have_shown_is_shown_as_it_was(story: Make, tmp_path: Path) -> None:
    begun(story, shop(), embedded=False)
    with opened("state") as store:
        store.noticeboard.post(look_at("state").solution.frontiers)
        live = look_at("state")
    fork(shop("amount > 1"), at=("totals@2",), keep=("sold",))
    own = Story(shop("amount > 1"), tmp_path / "shadow").epochs(3)
    own.stop()
    found = promoting.promote("shadow", "better", "old")
    assert [(each.taken, each.shown, each.recorded) for each in found.outputs] == [(-1, 5, 5)]
    after = look_at("state").stored["written"].ledger.records  # type: ignore[index]
    staged = live.stored["written"].ledger.records  # type: ignore[index]
    assert {t: r.state for t, r in after.items()} == {t: r.state for t, r in staged.items()}


def test_what_was_kept_and_never_shown_is_shown_as_the_live_flow_staged_it(
    story: Make, tmp_path: Path
) -> None:
    begun(story, shop(), embedded=False)
    live = look_at("state")
    fork(shop("amount > 1"), keep=("sold",))
    played(tmp_path, shop("amount > 1"), 1)
    found = promoting.promote("shadow", "better", "old")
    assert [(each.taken, each.shown, each.recorded) for each in found.outputs] == [(-1, 5, 6)]
    after = look_at("state").stored["written"].ledger.records  # type: ignore[index]
    staged = live.stored["written"].ledger.records  # type: ignore[index]
    assert sorted(after) == [(n,) for n in range(7)]
    assert all(after[time].state == staged[time].state for time in staged)


def test_a_shadow_that_is_behind_or_in_use_is_not_promoted(story: Make, tmp_path: Path) -> None:
    begun(story, embedded=True)
    fork(shop())
    story(shop()).epochs(2).stop()
    with pytest.raises(RecoveryError, match=r"come to epoch 5.*shown up to epoch 7.*--once"):
        promoting.plan_promotion("shadow")
    live = story(shop())
    with pytest.raises(RecoveryError, match="in use by process"):
        promoting.plan_promotion("shadow")
    live.stop()
    assert shadow_at("shadow").state == "forked"


def test_epochs_that_do_not_match_are_not_promoted(story: Make, tmp_path: Path) -> None:
    begun(story)
    forget_ends()
    fork(shop("amount > 1"))
    with opened("shadow") as store, store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE shadow_ends SET epoch = 7")
    Story(shop("amount > 1"), tmp_path / "shadow").epochs(2).stop()
    with pytest.raises(RecoveryError, match="does not know where that ended in the input 'orders'"):
        promoting.plan_promotion("shadow")


@pytest.mark.parametrize("step", ["inherit", "swap", "settle"])
def test_an_interrupted_promotion_is_undone_or_finished(
    story: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    begun(story)
    fork(shop())
    played(tmp_path, shop(), 2)

    def broken(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(promoting, step, broken)
        with pytest.raises(KeyboardInterrupt):
            promoting.promote("shadow", "better", "old")
    place = "shadow" if Path("shadow").exists() else "state"
    promoting.promote(place, "better", "old")
    assert frontiers("state")["totals"] == "↓(7)"
    assert frontiers("old")["totals"] == "↓(5)"
    assert promoted(story, tmp_path, shop()) == [(6,), (7,), (8,)]


def test_promotion_asks_first(story: Make, tmp_path: Path) -> None:
    begun(story)
    fork(shop())
    result = falkirk("shadow", "promote", "--store", "shadow", "--dry-run", "--json")
    assert json.loads(result.output)["outputs"] == [
        {"output": "written", "taken": 5, "shown": 5, "recorded": 5}
    ]
    assert falkirk("shadow", "promote", "--store", "shadow").exception
    assert Path("shadow").exists()


# Following.


class Beside:
    """A driver as far as sources see it: a story, told at once."""

    def __init__(self, story: Story) -> None:
        self.story, self.machine, self.step = story, story.machine, story.step

    def tell(self, function: Any, *args: Any) -> None:
        function(*args)


def followed(own: Story) -> Followed:
    trail = Trail(shadow_at("shadow"), [ProcessorId("orders")], own.store.database)
    trail.wait = lambda seconds: 0.0  # every look is a new one
    found = Followed(ProcessorId("orders"), Kept(), trail)
    found.driver = Beside(own)  # type: ignore[assignment]
    return found


def polled(source: Followed, own: Story, position: Any) -> Any:
    """What a poll brings: the position after the next epoch, which is then ingested."""
    end = source.latest(position, fk.Limit())
    if end != position:
        own.step(Ingest(ProcessorId("orders"), own.batch(0), end))
        own.step(Close(ProcessorId("orders")))
    return end


def test_a_shadow_cuts_where_the_live_flow_has_cut(story: Make, tmp_path: Path) -> None:
    begun(story)
    fork(shop())
    own = Story(shop(), tmp_path / "shadow")
    source = followed(own)
    assert source.latest(6, fk.Limit()) == 6  # it is level
    assert not source.trail.running
    live = story(shop()).epochs(3)
    assert [polled(source, own, at) for at in (6, 7, 8, 9)] == [7, 8, 9, 9]
    assert source.trail.running
    assert ends("orders") == [End(n, n, n + 1) for n in (6, 7, 8)]
    live.stop()
    own.stop()


def test_epochs_whose_ends_nobody_knows_are_closed_without_rows(
    story: Make, tmp_path: Path
) -> None:
    begun(story)
    fork(shop())
    story(shop()).epochs(3).stop()
    with opened("state") as store, store.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM facts WHERE name LIKE 'end:%'")
    own = Story(shop(), tmp_path / "shadow")
    source = followed(own)
    assert source.latest(6, fk.Limit()) == 6
    assert own.machine.state.standing[ProcessorId("orders")].epoch == 8
    assert polled(source, own, 6) == 9
    assert ends("orders") == [End(8, 6, 9)]
    own.stop()


def test_a_live_flow_that_was_put_back_is_not_followed(story: Make, tmp_path: Path) -> None:
    begun(story, embedded=False)
    fork(shop())
    assert falkirk("rollback", "--store", "state", "--to", "totals@3", "--yes", "--reason", "x")
    own = Story(shop(), tmp_path / "shadow")
    with pytest.raises(StoreError, match=r"was rolled back.*'orders'"):
        followed(own).latest(6, fk.Limit())
    own.stop()


def test_a_store_that_took_the_place_of_the_live_one_is_not_followed(
    story: Make, tmp_path: Path
) -> None:
    begun(story)
    fork(shop())
    with opened("state") as store:
        assert store.identity
    own = Story(shop(), tmp_path / "shadow")
    with pytest.raises(StoreError, match="is not the one that this is a shadow of"):
        followed(own).latest(6, fk.Limit())
    own.stop()
