"""A thousand processors: only what can be seen and read is in the page."""

import pytest
from playwright.sync_api import expect
from tests.web.fixtures import Show, screenshot
from tests.web.scripted import large

from falkirk.web.feed import Feed

pytestmark = pytest.mark.slow

SHAPES = "document.querySelectorAll('.graph svg *').length"


@pytest.fixture
def feed() -> Feed:
    found = Feed(None)
    found.started("large")
    for number in range(1, 4):
        found.progressed(large(number))
    return found


def test_from_afar_a_thousand_are_a_handful_of_shapes(show: Show, feed: Feed) -> None:
    page = show(feed)
    expect(page.locator(".far path").first).to_be_attached()
    assert page.evaluate(SHAPES) < 40
    assert page.locator(".graph").get_attribute("data-level") == "0"
    feed.progressed(large(4))
    expect(page.locator(".figures")).to_contain_text("rows read a second")
    assert page.evaluate(SHAPES) < 40
    screenshot(page, "large")


def test_close_up_only_those_in_sight_are_drawn(show: Show, feed: Feed) -> None:
    page = show(feed)
    expect(page.locator(".far path").first).to_be_attached()
    page.locator("#find").fill("processor-0512")
    page.locator("#find").press("Enter")
    expect(page.locator(".node.selected")).to_contain_text("processor-0512")
    expect(page.locator(".side h2")).to_have_text("processor-0512")
    assert 4 < page.locator(".node").count() < 60
    before = page.evaluate("document.querySelector('.node title').textContent")
    box = page.locator(".graph").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(box["x"] + 300 - 200 * step, box["y"] + 300)
    page.mouse.up()
    expect(page.locator(f".node title:text-is('{before.splitlines()[0]}')")).to_have_count(0)
    assert 4 < page.locator(".node").count() < 60
    screenshot(page, "large-close")


def test_names_come_with_nearness(show: Show, feed: Feed) -> None:
    page = show(feed)
    expect(page.locator(".graph[data-level]")).to_be_visible()
    box = page.locator(".graph").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    levels = []
    for _ in range(12):
        page.mouse.wheel(0, -250)
        page.wait_for_timeout(30)
        levels.append(page.locator(".graph").get_attribute("data-level"))
    assert sorted(set(levels)) == ["0", "1", "2"]
    assert levels == sorted(levels)


def test_times_are_drawn_row_by_row_in_sight(show: Show, feed: Feed) -> None:
    page = show(feed, "times")
    expect(page.locator(".row").first).to_be_visible()
    assert page.locator(".row").count() < 40
    page.locator("#find").fill("processor-0990")
    page.locator("#find").press("Enter")
    expect(page.locator(".who:text-is('processor-0990')")).to_be_in_viewport()
    assert page.locator(".row").count() < 40
