"""How a shadow takes the place of the live flow."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.shadows import (
    begun,
    forget_ends,
    fork,
    frontiers,
    played,
    shop,
)
from tests.unit.cli.stories import Make, Story, falkirk

from falkirk.core.errors import RecoveryError
from falkirk.dataflow import Dataflow
from falkirk.inspection.look import look_at, opened
from falkirk.inspection.shadow import promoting
from falkirk.inspection.shadow.facts import identity_in, shadow_at

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("step", ["inherit", "move", "settle"])
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
