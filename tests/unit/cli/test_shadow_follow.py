"""How a shadow reads what the live flow reads."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.shadows import (
    Kept,
    begun,
    ends,
    fork,
    shop,
)
from tests.unit.cli.stories import Make, Story, falkirk

import falkirk as fk
from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Close, Ingest
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import opened
from falkirk.inspection.shadow.ends import End
from falkirk.inspection.shadow.facts import shadow_at
from falkirk.inspection.shadow.following import Followed, Trail


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
