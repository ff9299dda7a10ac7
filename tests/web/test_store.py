"""The pages that ask a store: what if, storage, repair."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.unit.cli.stories import Story
from tests.web.fixtures import Show, screenshot
from tests.web.stores import stopped, storefront

from falkirk.inspection.look import look_at
from falkirk.inspection.supposing import suppose
from falkirk.web.feed import Feed
from falkirk.web.polling import polled

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    return stopped(tmp_path_factory.mktemp("recorded") / "state")


@pytest.fixture
def place(recorded: str, tmp_path: Path) -> str:
    return str(shutil.copytree(recorded, tmp_path / "state"))


@pytest.fixture
def feed(place: str) -> Iterator[Feed]:
    found = Feed(place, live=False)
    with polled(found, place, seconds=0.3):
        yield found


def reached(place: str) -> dict[str, str]:
    return {p: repr(f) for p, f in look_at(place).solution.frontiers.items()}


def plan(page: Page, who: str, time: str) -> None:
    page.locator("#repair-who").select_option(who)
    page.locator("#repair-time").fill(time)
    page.get_by_role("button", name="See the plan").click()


def confirm(page: Page, typed: str, reason: str) -> None:
    page.locator("#repair-reason").fill(reason)
    page.locator("#repair-confirm").fill(typed)


def test_a_stopped_flow_is_seen_from_its_store(show: Show, feed: Feed) -> None:
    page = show(feed)
    expect(page.locator("#flow-name")).to_have_text("storefront")
    expect(page.locator("#flow-state")).to_have_text("stopped, seen from its store")
    page.locator(".node").filter(has_text="totals").click()
    expect(page.locator(".side")).to_contain_text("lazy(every=5)")
    expect(page.locator(".side")).to_contain_text("Nothing holds it down")
    page.locator(".node").filter(has_text="ledger").click()
    expect(page.locator(".side .reasons")).to_contain_text("ledger has used what totals sent")
    expect(page.locator(".side")).to_contain_text("In the end because of totals")


def test_what_if_is_the_answer_of_the_solver(show: Show, feed: Feed, place: str) -> None:
    page = show(feed, "what-if")
    expect(page.locator(".side")).to_contain_text("Pick processors")
    page.locator(".node").filter(has_text="visits").click()
    expect(page.locator(".side h2")).to_have_text("If visits failed now")
    page.locator(".node").filter(has_text="totals").click()
    expect(page.locator(".side h2")).to_have_text("If visits and totals failed now")
    fates = asdict(suppose(look_at(place), ["visits", "totals"]))["fates"]
    moved = {each["processor"] for each in fates if each["failed"] or not each["keeps_all"]}
    expect(page.locator(".fates li")).to_have_count(len(moved))
    assert set(page.locator(".fates b").all_inner_texts()) == moved
    expect(page.locator(".node.fails")).to_have_count(2)
    kept = [each["processor"] for each in fates if each["keeps_all"]]
    expect(page.locator(".node.keeps")).to_have_count(len(kept))
    screenshot(page, "what-if")
    page.get_by_role("button", name="Everything").click()
    expect(page.locator(".side h2")).to_have_text("If everything failed now")
    page.get_by_role("button", name="Nobody").click()
    expect(page.locator(".node.fails")).to_have_count(0)


def test_storage_says_who_is_the_reason(show: Show, feed: Feed) -> None:
    page = show(feed, "storage")
    expect(page.locator("h2")).to_contain_text("files")
    log = page.locator(".kept li").filter(has_text="log on orders>sold")
    expect(log).to_contain_text("sold might ask for it again")
    expect(log.get_by_role("link", name="totals")).to_be_visible()
    screenshot(page, "storage")


def test_a_repair_is_planned_confirmed_by_typing_and_done(
    show: Show, feed: Feed, place: str
) -> None:
    before = reached(place)
    page = show(feed, "repair/totals")
    expect(page.locator(".hint")).to_contain_text("nothing, epoch 4, epoch 9")
    plan(page, "totals", "4")
    expect(page.locator(".plan")).to_contain_text("totals")
    expect(page.locator(".plan")).to_contain_text("goes back to epoch 4")
    expect(page.locator(".plan")).to_contain_text("Sent again from logs")
    assert reached(place) == before, "a plan changes nothing"
    go = page.get_by_role("button", name="Roll back")
    confirm(page, "storefron", "bad prices")
    expect(go).to_be_disabled()
    confirm(page, "storefront", " ")
    expect(go).to_be_disabled()
    confirm(page, "storefront", "bad prices")
    screenshot(page, "repair")
    go.click()
    expect(page.locator(".notice.good")).to_contain_text("Done")
    assert reached(place)["totals"] == "↓(4)"
    assert reached(place)["orders"] == before["orders"], "it logs, so it stays"
    expect(page.locator(".audit li")).to_contain_text("bad prices")
    assert look_at(place).audit[0]["why"] == "bad prices"


def test_a_plan_is_refused_when_the_store_has_changed(
    show: Show, feed: Feed, place: str, tmp_path: Path
) -> None:
    page = show(feed, "repair/totals")
    plan(page, "totals", "4")
    expect(page.locator(".plan")).to_be_visible()
    Story(storefront(), tmp_path / "state", embedded=False).epochs(1).stop()
    before = reached(place)
    confirm(page, "storefront", "bad prices")
    page.get_by_role("button", name="Roll back").click()
    expect(page.locator(".notice.bad")).to_contain_text("The plan is stale")
    expect(page.locator(".notice.bad")).to_contain_text("nothing was done: make a new plan")
    assert reached(place) == before


def test_a_live_flow_goes_back_by_itself_and_the_page_says_so(
    show: Show, feed: Feed, tmp_path: Path
) -> None:
    story = Story(storefront(), tmp_path / "state", embedded=False)
    try:
        page = show(feed, "repair/totals")
        expect(page.locator(".notice")).to_contain_text("This flow is running")
        plan(page, "totals", "4")
        expect(page.locator(".plan")).to_contain_text("So far it goes back at most")
    finally:
        story.stop()


def test_a_pin_is_made_shown_with_its_cost_and_let_go(show: Show, feed: Feed, place: str) -> None:
    page = show(feed, "storage")
    expect(page.locator(".pins")).to_contain_text("Nothing is pinned")
    page.locator("#pin-name").fill("before may")
    page.locator("#pin-why").fill("new prices")
    see = page.get_by_role("button", name="See what it keeps")
    see.click()
    expect(page.locator(".notice.bad")).to_contain_text("is no name for a pin")
    page.locator("#pin-name").fill("before-may")
    see.click()
    expect(page.locator(".plan")).to_contain_text("ledger, sold, totals up to epoch 9")
    assert look_at(place).pins == (), "a plan changes nothing"
    page.get_by_role("button", name="Pin it").click()
    expect(page.locator(".notice.good")).to_contain_text("before-may is pinned")
    expect(page.locator(".pins li")).to_contain_text("new prices")
    expect(page.locator(".pins li")).to_contain_text("Holds nothing back yet")
    expect(page.locator(".page")).not_to_contain_text("false")
    assert [pin.why for pin in look_at(place).pins] == ["new prices"]
    screenshot(page, "pins")
    page.get_by_role("button", name="Let before-may go").click()
    go = page.get_by_role("button", name="Let it go")
    page.locator("#unpin-confirm").fill("before")
    expect(go).to_be_disabled()
    page.locator("#unpin-confirm").fill("before-may")
    go.click()
    expect(page.locator(".pins")).to_contain_text("Nothing is pinned")
    assert [entry["what"] for entry in look_at(place).audit] == [
        "pin before-may",
        "unpin before-may",
    ]


def test_nonsense_is_refused_with_what_to_write(show: Show, feed: Feed) -> None:
    page = show(feed, "repair/totals")
    plan(page, "totals", "tuesday")
    expect(page.locator(".notice.bad")).to_contain_text("'tuesday' is not EPOCH")


def test_a_rollback_beside_the_page_is_seen_in_the_store(
    show: Show, feed: Feed, tmp_path: Path
) -> None:
    page = show(feed, "recoveries")
    expect(page.locator(".empty")).to_be_visible()
    Story(storefront(), tmp_path / "state", embedded=False).stop()
    expect(page.locator(".story")).to_contain_text("the store does not say why")


def test_names_are_only_ever_text(show: Show, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    flow = storefront()
    story = Story(flow, tmp_path / "state", embedded=False)
    story.stop()
    feed = Feed(str(tmp_path / "state"), live=False)
    look = look_at(str(tmp_path / "state"))
    feed.seen(look)
    assert feed.graph is not None
    feed.graph["processors"][0]["policy"] = hostile
    feed.graph["flow"] = hostile
    page = show(feed)
    expect(page.locator("#flow-name")).to_have_text(hostile)
    expect(page.locator("img")).to_have_count(0)


def test_a_token_is_asked_for_once_and_remembered(show: Show, feed: Feed) -> None:
    page = show(feed, token="swordfish")
    expect(page.locator(".node").first).to_be_visible()
    assert "swordfish" not in page.url
    page.reload()
    expect(page.locator("#flow-name")).to_have_text("storefront")
    page.context.clear_cookies()
    page.reload()
    expect(page.locator("body")).to_contain_text("asks for its token")
