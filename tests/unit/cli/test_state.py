"""``falkirk state``: what a processor has saved, as rows."""

import json
from typing import Any

import pytest
from tests.unit.cli.stories import Make, falkirk, shop

import falkirk as fk
from falkirk.core.errors import ConfigurationError, StoreError
from falkirk.inspection.state import read_table


def found(*arguments: str) -> dict[str, Any]:
    return json.loads(falkirk("state", *arguments, "--store", "state", "--json").output)


def test_rows_bear_the_times_that_they_came_at(story: Make) -> None:
    story(shop(totals=fk.lazy())).epochs(4).stop()
    told = found("totals")
    assert told["rows"] > 0
    assert {row["_time"] for row in told["shown"]} <= {"0", "1", "2", "3"}
    assert "_time" in falkirk("state", "totals", "--store", "state").output


def test_an_older_time_has_less(story: Make) -> None:
    story(shop(totals=fk.lazy()), embedded=False).epochs(6).stop()
    times = {row["_time"] for row in found("totals")["shown"]}
    assert "5" in times
    assert {row["_time"] for row in found("totals@2")["shown"]} == times & {"0", "1", "2"}


def test_what_was_folded_cannot_be_told_apart_any_more(story: Make) -> None:
    story(shop(totals=fk.lazy())).epochs(6).stop()
    with pytest.raises(StoreError, match="was folded"):
        read_table("state", "totals@2")


def test_what_is_not_there_is_told(story: Make) -> None:
    story(shop(totals=fk.lazy())).epochs(2).stop()
    with pytest.raises(ConfigurationError, match="did you mean 'totals'"):
        read_table("state", "total")
    with pytest.raises(StoreError, match="saved no more than"):
        read_table("state", "totals@9")
    with pytest.raises(ConfigurationError, match="keeps no state 'x'"):
        read_table("state", "totals", "x")
    assert read_table("state", "sold") is None
