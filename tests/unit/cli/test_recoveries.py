"""``falkirk recoveries``: what a run has told of them, and no more than it could know."""

import json
from typing import Any

import pytest
from tests.unit.cli.stories import Make, falkirk

from falkirk.core.domain import EPOCH
from falkirk.core.times import ProcessorId
from falkirk.runtime.history import History
from falkirk.runtime.listening import LOST_EXECUTOR, RESTART, RollbackNotice

TOTALS = ProcessorId("totals")
UNKNOWN = "when it had caught up is not known"


def remember(story: Make, cause: str, undone: int, caught_up: float | None, rows: int = 0) -> None:
    """A run goes back with totals, and is where it was after so many seconds, if ever."""
    store = story().epochs(2).store
    history = History(lambda note: store.transact([note]), store.noticeboard)
    notice = RollbackNotice(
        history.number(),
        1_700_000_000.0,
        cause,
        (TOTALS,),
        {TOTALS: EPOCH.frontier([(1,)])},
        {},
        {TOTALS: undone} if undone else {},
        0.25,
    )
    history.rolled_back(notice)
    if caught_up is not None:
        history.caught_up(notice, caught_up, rows)
    store.close()


def told() -> tuple[str, Any]:
    """The recovery as a page, and as a value."""
    command = ("recoveries", "--store", "state")
    (value,) = json.loads(falkirk(*command, "--json").output)["recoveries"]
    return falkirk(*command).output, value


@pytest.mark.parametrize("caught_up", [0.0, None])
def test_how_far_a_dead_process_had_come_is_not_known(story: Make, caught_up: float | None) -> None:
    remember(story, RESTART, 0, caught_up)
    page, value = told()
    assert UNKNOWN in page
    assert "caught up after" not in page
    assert (value["kind"], value["caught_up"], value["rows"]) == ("restart", None, None)


@pytest.mark.parametrize("undone", [0, 3])
def test_within_a_run_it_is_known(story: Make, undone: int) -> None:
    remember(story, LOST_EXECUTOR, undone, 2.5, 40)
    page, value = told()
    assert "caught up after 2.5 s and 40 rows" in page
    assert UNKNOWN not in page
    assert (value["caught_up"], value["rows"]) == (2.5, 40)


def test_a_run_that_ended_before_has_not_caught_up(story: Make) -> None:
    remember(story, LOST_EXECUTOR, 3, None)
    page, value = told()
    assert "caught up" not in page
    assert value["caught_up"] is None
