"""A live flow whose metadata is in PostgreSQL has shadows, too, and keeps its address."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.servers.postgres import Server
from tests.unit.cli.shadows import played, shop
from tests.unit.cli.stories import Story, falkirk

from falkirk.inspection.look import look_at, opened
from falkirk.inspection.shadow import promoting
from falkirk.inspection.shadow.facts import identity_in, shadow_at, shadows
from falkirk.inspection.shadow.starting import Wish, start_shadow

pytestmark = pytest.mark.slow


@pytest.fixture
def live(postgres: Server, tmp_path: Path) -> str:
    """The address of a store whose flow has done six epochs."""
    address = f"{postgres.empty_database()}&data={tmp_path / 'batches'}"
    Story(shop(), address).epochs(6).stop()
    return address


def forked(live: str, tmp_path: Path) -> None:
    start_shadow(shop("amount > 1").build(), live, "shadow", Wish(keep=("sold",)), "a test")
    played(tmp_path, shop("amount > 1"), 3)


def test_what_a_shadow_remembers_of_a_database_has_no_password(live: str, tmp_path: Path) -> None:
    given = live.replace("falkirk@", "falkirk:hush@")
    forked(given, tmp_path)
    known = shadow_at("shadow").live
    assert "hush" not in known
    assert [at for at, _ in shadows(live)] == [str(tmp_path / "shadow")]
    found = json.loads(falkirk("shadow", "compare", "--store", "shadow", "--json").output)
    assert found["live"] == known
    assert [each["output"] for each in found["outputs"]] == ["written"]


@pytest.mark.parametrize("step", ["", "inherit", "move", "settle", "clear"])
def test_a_shadow_takes_the_place_of_a_database(
    live: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with opened(live) as store:
        identity = store.identity
    forked(live, tmp_path)

    def broken(*_: Any) -> None:
        raise KeyboardInterrupt

    if step:
        with monkeypatch.context() as patch:
            patch.setattr(promoting, step, broken)
            with pytest.raises(KeyboardInterrupt):
                promoting.promote("shadow", "better", "old")
    promoting.promote("shadow", "better", "old")
    assert not Path("shadow").exists()
    with opened(live) as store, opened("old") as old:
        assert identity_in(store) == identity != identity_in(old)
        assert [damage for damage in map(old.files.problem, old.references()) if damage] == []
    assert look_at(live).audit[-1]["why"] == "better"
    assert look_at("old").solution.frontiers["totals"][0] == 5  # type: ignore[index]
    after = Story(shop("amount > 1"), live)
    after.epochs(1).stop()
    assert [time for _, time in after.released] == [(6,), (7,), (8,), (9,)]


def test_what_went_on_in_the_new_place_is_not_replaced_again(
    live: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked(live, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(promoting, "clear", lambda *_: None)
        promoting.promote("shadow", "better", "old")
    Story(shop("amount > 1"), live).epochs(2).stop()
    promoting.promote("shadow", "better", "old")
    assert look_at(live).solution.frontiers["totals"][0] == 10  # type: ignore[index]
