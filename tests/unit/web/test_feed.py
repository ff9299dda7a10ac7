"""The feed: pages hear everything first, then what changes, and slow ones are let go."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.stories import Story, falkirk
from tests.web.scripted import FLOW, NOON, large, progress, rollback
from tests.web.stores import storefront

from falkirk.inspection.look import look_at
from falkirk.web.feed import TRAIL_POINTS_MAX, Feed
from falkirk.web.pages import BACKLOG_MAX
from falkirk.web.polling import polled


def heard(feed: Feed, *steps: Any) -> list[tuple[str, Any] | None]:
    """What a page is told while ``steps`` are taken."""

    async def listen() -> list[tuple[str, Any] | None]:
        with feed.opened(asyncio.get_running_loop()) as queue:
            for step in steps:
                step()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            messages = [queue.get_nowait() for _ in range(queue.qsize())]
        return [message and (message[0], json.loads(message[1])) for message in messages]

    return asyncio.run(listen())


def running() -> Feed:
    feed = Feed(None)
    feed.started("storefront")
    feed.progressed(progress(1, 4))
    return feed


def test_a_page_hears_everything_and_then_what_changes() -> None:
    feed = running()
    messages = heard(
        feed,
        lambda: feed.progressed(progress(2, 4)),
        lambda: feed.progressed(progress(3, 5)),
    )
    assert all(messages)
    kinds = [message[0] for message in messages if message]
    assert kinds == ["everything", "progress", "progress"]
    everything, same, news = (message[1] for message in messages if message)
    assert set(everything["processors"]) == set(FLOW)
    assert same["edges"] == {}, "no edge has changed"
    assert news["processors"]["clicks"]["completed"] == ["epoch 5", 5]


def test_rates_are_rows_over_the_last_seconds() -> None:
    feed = running()
    for number in range(2, 20):
        feed.progressed(progress(number, 4))
    assert feed.values["clicks"]["rate"] == 2 * 1200, "two reports a second"


def test_a_recovery_is_told_and_completed_later() -> None:
    feed = running()
    notice = rollback(1, NOON)
    feed.rolled_back(notice)
    feed.progressed(progress(2, 4, {"similar": 2}))
    feed.caught_up(notice, 1.5)
    entry = feed.recoveries[1]
    assert (entry["kind"], entry["caught_up"], entry["rows"]) == ("lost-executor", 1.5, 900)
    moved = {each["processor"]: each for each in entry["moved"]}
    assert moved["enrich"]["to"] == ["epoch 14", 14]
    assert moved["enrich"]["reasons"][0]["by"] == "similar"
    assert entry["kept"] == len(FLOW) - len(moved)


@pytest.mark.slow
def test_the_past_that_is_kept_is_bounded() -> None:
    feed, once = Feed(None), large(1, 1000)
    feed.started("large")
    for number in range(1, 80):
        feed.progressed(replace(once, number=number, at=NOON + number))
    assert len(feed.trail) * 1000 <= TRAIL_POINTS_MAX


def test_a_page_that_does_not_listen_is_let_go() -> None:
    feed = running()

    async def sleepy() -> Any:
        with feed.opened(asyncio.get_running_loop()) as queue:
            for number in range(2, BACKLOG_MAX + 5):
                feed.progressed(progress(number, number))
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            return [queue.get_nowait() for _ in range(queue.qsize())][-1]

    assert asyncio.run(sleepy()) is None


def test_a_second_run_begins_anew() -> None:
    feed = running()
    feed.ended(None)
    assert feed.everything()["state"] == "ended"
    feed.started("other")
    assert feed.everything()["graph"] is None
    feed.progressed(large(1, 10))
    assert feed.everything()["graph"]["flow"] == "large"


def test_a_store_tells_that_processors_went_back(tmp_path: Path) -> None:
    place = tmp_path / "state"
    Story(storefront(), place, embedded=False).epochs(3).stop()
    feed = Feed(str(place), live=False)
    feed.seen(look_at(str(place)))
    assert not feed.recoveries
    Story(storefront(), place, embedded=False).stop()
    feed.seen(look_at(str(place)))
    (entry,) = feed.recoveries.values()
    assert entry["kind"] == "observed"
    assert {each["processor"] for each in entry["moved"]} >= {"totals", "orders"}


def test_a_store_that_cannot_be_read_is_told_once() -> None:
    feed = running()
    messages = heard(feed, lambda: feed.unwell("gone"), lambda: feed.unwell("gone"))
    assert [message[0] for message in messages if message] == ["everything", "state"]
    assert feed.everything()["error"] == "gone"


def test_recoveries_of_earlier_runs_are_there_when_a_page_is_opened(tmp_path: Path) -> None:
    place = str(tmp_path / "state")
    Story(storefront(), tmp_path / "state", embedded=False).epochs(12).stop()
    done = ("--to", "totals@4", "--yes", "--reason", "bad prices")
    assert falkirk("rollback", *done, "--store", place).exit_code == 0
    beside = Feed(place, live=False)
    with polled(beside, place):
        (entry,) = beside.recoveries.values()
    assert (entry["number"], entry["kind"]) == (1, "repair")
    assert "bad prices" in entry["cause"]
    moved = {each["processor"]: each["to"] for each in entry["moved"]}
    assert moved["totals"] == ["epoch 4", 4]
    assert entry["kept"] == 4, "the other branch, and orders, which logs"
    inside = Feed(place)
    inside.started("storefront")
    assert inside.recoveries == {1: entry}
    inside.rolled_back(rollback(2, NOON))
    assert [each["kind"] for each in inside.recoveries.values()] == ["repair", "lost-executor"]
