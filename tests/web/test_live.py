"""The pages of a run, as a browser shows them: the feed is told what a run would tell."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect
from tests.web.fixtures import Show, screenshot
from tests.web.scripted import EDGES, FLOW, NOON, progress, rollback

from falkirk.web.feed import Feed
from falkirk.web.serving import dashboard

pytestmark = pytest.mark.slow

BEHIND = """async (graph) => {
    const { layout, WIDTH, HEIGHT } = await import("/static/layout.js");
    const { nodes, edges } = layout(graph);
    const hides = ([left, , right, y]) => (n) =>
        n.x < right && n.x + WIDTH > left && n.y < y && n.y + HEIGHT > y;
    const loops = edges.filter((edge) => edge.back);
    return loops.flatMap(({ box }) => [...nodes.values()].filter(hides(box)).map((n) => n.name));
}"""
"""The processors behind which the way back of a loop is hidden."""

BACK = {"similar": 14, "rank": 14, "step": 14, "again": 14, "enrich": 14}


def running(epochs: int = 19) -> Feed:
    """A feed that has heard of so many epochs."""
    feed = Feed(None)
    feed.started("storefront")
    for number in range(1, epochs + 1):
        feed.progressed(progress(number, number))
    return feed


def failed() -> Feed:
    """One in which an executor was lost, and some went back."""
    feed = running()
    feed.rolled_back(rollback(1, NOON + 9.6))
    for number in range(20, 24):
        feed.progressed(progress(number, number - 1, BACK, ("similar",)))
    return feed


def test_every_processor_shows_how_it_stands(show: Show) -> None:
    page = show(running())
    expect(page.locator(".node")).to_have_count(len(FLOW))
    words = page.locator(".node").all_text_contents()
    orders = next(text for text in words if text.startswith("orders"))
    for part in ("epoch 19", "final: epoch 13", "rows/s", "203 KiB", "batch", "120 ms"):
        assert part in orders, orders
    screenshot(page, "live")


def test_regimes_have_colours_and_loops_are_drawn_as_loops(show: Show) -> None:
    page = show(running())
    for regime in {regime for _, regime in FLOW.values()}:
        expect(page.locator(f".node.is-{regime}").first).to_be_visible()
        expect(page.locator(".legend")).to_contain_text(regime.replace("-", " "))
    expect(page.locator(".edge")).to_have_count(len(EDGES))
    expect(page.locator(".edge.back")).to_have_count(1)
    expect(page.locator(".edge.back title")).to_have_text("again→rank")
    expect(page.locator(".edge text").filter(has_text="24 logged").first).to_be_visible()
    expect(page.locator(".edge.busy text").filter(has_text="3 queued").first).to_be_visible()


def test_a_loop_runs_beside_processors_and_not_behind_them(show: Show) -> None:
    ways = "clicks recent screen, clicks small grow where select around, select out shown,"
    ways += " orders sold totals report, orders booked ledger"
    steps = [way.split() for way in ways.split(", ")]
    edges = [(a, b, "identity") for way in steps for a, b in pairwise(way)]
    graph = {
        "processors": [{"name": name} for name in dict.fromkeys(n for way in steps for n in way)],
        "edges": [
            {"name": f"{a}>{b}", "source": a, "target": b, "projection": how}
            for a, b, how in [*edges, ("around", "grow", "feedback")]
        ],
    }
    assert show(running(1)).evaluate(BEHIND, graph) == []


def test_it_is_live(show: Show) -> None:
    feed = running(5)
    page = show(feed)
    clicks = page.locator(".node").filter(has_text="clicks").locator(".frontier")
    expect(clicks).to_have_text("epoch 5")
    feed.progressed(progress(6, 31))
    expect(clicks).to_have_text("epoch 31")
    expect(page.locator("#flow-state")).to_contain_text("running")
    feed.ended(RuntimeError("the disk is full"))
    expect(page.locator("#flow-state")).to_have_text("RuntimeError: the disk is full")


def test_a_rollback_is_a_step_back_of_some_while_others_stay(show: Show) -> None:
    feed = running()
    page = show(feed, "times")
    expect(page.locator(".row")).to_have_count(len(FLOW))
    expect(page.locator(".stepped-back")).to_have_count(0)
    feed.rolled_back(rollback(1, NOON + 9.6))
    feed.progressed(progress(20, 19, BACK))
    expect(page.locator(".stepped-back")).to_have_count(len(BACK))
    assert set(page.locator(".stepped-back .who").all_inner_texts()) == set(BACK)
    row = page.locator(".row").filter(has_text="similar")
    expect(row.locator(".words")).to_have_text("epoch 14")
    expect(row.locator(".bar.ghost")).to_be_visible()
    expect(page.locator(".row").filter(has_text="orders").locator(".words")).to_have_text(
        "epoch 19"
    )
    screenshot(page, "times")


def test_who_was_there_when_the_page_opens_late_is_still_seen(show: Show) -> None:
    page = show(failed(), "times")
    expect(page.locator(".stepped-back")).to_have_count(len(BACK))


def test_a_recovery_tells_its_cause_its_constraints_and_its_cost(show: Show) -> None:
    feed = failed()
    page = show(feed, "recoveries")
    expect(page.locator("#views .count")).to_have_text("1")
    story = page.locator(".story")
    expect(story).to_contain_text("rank and similar lost what was in the memory of an executor")
    expect(story).to_contain_text("9 processors kept everything")
    page.get_by_text("5 processors went back").click()
    enrich = story.locator(".moves > li").filter(has_text="enrich has sent")
    expect(enrich).to_contain_text("went back to epoch 14, 4 epochs back")
    expect(enrich).to_contain_text("but similar stands at epoch 14: what similar lacks, enrich")
    expect(enrich).to_contain_text("§3.5, discarded messages")
    feed.caught_up(rollback(1, NOON + 9.6), 2.5)
    expect(story).to_contain_text("2.5 s until all was as before")
    expect(story).to_contain_text("900 rows processed again")
    expect(story.locator(".moves")).to_be_visible()
    screenshot(page, "recoveries")


def test_the_keyboard_reaches_everything(show: Show) -> None:
    page = show(running())
    expect(page.locator(".node")).to_have_count(len(FLOW))
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Escape")
    page.locator(".graph").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".node.cursor")).to_contain_text("clicks")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".node.cursor")).to_contain_text("sessions")
    expect(page.locator(".voice")).to_contain_text("sessions, ephemeral, complete up to epoch 19")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".node.cursor")).to_contain_text("orders")
    page.keyboard.press("Enter")
    expect(page.locator(".side h2")).to_have_text("orders")
    page.keyboard.press("Escape")
    expect(page.locator(".side")).to_be_hidden()
    expect(page.locator(".graph")).to_be_focused()
    reached = set()
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent || 'find'"))
    assert {"Flow", "Times", "What if", "Storage", "Repair", "+"} <= reached, reached


def test_a_click_tells_more_about_a_processor(show: Show) -> None:
    page = show(running())
    page.locator(".node").filter(has_text="purchases").click()
    facts = page.locator(".side")
    expect(facts).to_contain_text("low-watermark")
    expect(facts).to_contain_text("not acknowledged")
    expect(facts).to_contain_text("keeps its store in memory")
    page.get_by_label("Close").click()
    expect(facts).to_be_hidden()


def test_it_is_light_or_dark_as_the_system_or_the_reader_has_it(show: Show) -> None:
    page = show(running(), color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    assert sum(map(int, re.findall(r"\d+", dark)[:3])) < 120, dark
    page.locator("#theme").click()
    light = page.evaluate(background)
    assert sum(map(int, re.findall(r"\d+", light)[:3])) > 700, light
    page.reload()
    assert page.evaluate(background) == light, "it is remembered"


def test_a_narrow_page_shows_the_flow_from_the_top_down(show: Show) -> None:
    page = show(running(), viewport={"width": 390, "height": 844})
    first = page.locator(".node").filter(has_text="clicks").bounding_box()
    then = page.locator(".node").filter(has_text="sessions").bounding_box()
    assert first is not None
    assert then is not None
    assert then["y"] > first["y"] + first["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "narrow")


def test_a_lost_connection_is_told_and_found_again(show: Show) -> None:
    state, feed = "#flow-state", running()
    with dashboard(feed, port=0) as address:
        page = show(feed, address=address)
        expect(page.locator(state)).to_contain_text("running")
    expect(page.locator(state)).to_have_text("connection lost, trying again")
    feed.progressed(progress(20, 33))
    with dashboard(feed, port=address.port):
        expect(page.locator(state)).to_contain_text("running")
        clicks = page.locator(".node").filter(has_text="clicks")
        expect(clicks.locator(".frontier")).to_have_text("epoch 33")
