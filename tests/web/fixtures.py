"""A real browser for the dashboard's pages.

One for each file of tests: while it runs there is an event loop, in which no other test may live.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from falkirk.runtime.java import cache_folder

if TYPE_CHECKING:
    # Every suite loads this file, and few need a browser.
    from playwright.sync_api import Browser, Page

    from falkirk.web.feed import Feed

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

Show = Callable[..., "Page"]
"""Serves a feed and opens its page at ``#/view``; most keyword arguments are those of a context."""


def found_chromium() -> str | None:
    """A Chromium: CHROMIUM, one on the path, or the one that scripts/browser has fetched."""
    fetched = cache_folder(os.environ) / "browser" / "chromium"
    places = [os.environ.get("CHROMIUM", ""), *NAMES, str(fetched)]
    return next((found for place in places if place and (found := shutil.which(place))), None)


@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """A headless Chromium; where there is none its tests are skipped, but never in CI."""
    path = found_chromium()
    if path is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("CI must test in a browser: run scripts/browser first")
        pytest.skip("there is no Chromium here: scripts/browser fetches one")
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="falkirk-browser-") as home, sync_playwright() as play:
        environment: dict[str, Any] = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home}
        browser = play.chromium.launch(
            executable_path=path, args=FLAGS, headless=True, env=environment
        )
        yield browser
        browser.close()


@pytest.fixture
def show(chromium: "Browser") -> Iterator[Show]:
    """Opens pages; at the end none of them may have complained or asked anybody else."""
    from falkirk.web.serving import dashboard

    complaints: list[str] = []
    with ExitStack() as stack:

        def open_page(feed: "Feed", view: str = "flow", **options: Any) -> "Page":
            token, address = options.pop("token", None), options.pop("address", None)
            if address is None:
                address = stack.enter_context(dashboard(feed, port=0, token=token))
            viewport = options.pop("viewport", {"width": 1600, "height": 900})
            context = chromium.new_context(viewport=viewport, **options)
            stack.callback(context.close)
            context.set_default_timeout(10_000)
            page = context.new_page()

            def asked(url: str) -> None:
                if not url.startswith((f"http://127.0.0.1:{address.port}/", "blob:", "data:")):
                    complaints.append(f"asked {url}")

            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("request", lambda each: asked(each.url))
            page.on(
                "console",
                lambda each: complaints.append(each.text) if "Security" in each.text else None,
            )
            page.goto(f"{address.url}#/{view}")
            return page

        yield open_page
    assert not complaints, complaints


def screenshot(page: "Page", name: str) -> None:
    """Keeps a picture where FALKIRK_SHOTS says, for people to look at."""
    if folder := os.environ.get("FALKIRK_SHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))
