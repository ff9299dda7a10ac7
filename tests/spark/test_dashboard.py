"""A real run on Spark, watched in a real browser: a failure, the step back, and what it tells."""

from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import expect
from pyspark.sql import SparkSession
from tests.web.fixtures import Show, screenshot

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.core.times import ProcessorId
from falkirk.dataflow.description import about, describe
from falkirk.runtime.driver import Driver
from falkirk.runtime.listening import Listener
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared
from falkirk.store import open_store
from falkirk.telemetry import PrometheusListener
from falkirk.testing.script import Remembered
from falkirk.web.feed import Feed
from falkirk.web.serving import dashboard

pytestmark = pytest.mark.spark

EPOCHS = 40


class Striker(Listener):
    """Takes away what ``counts`` holds, once, when it has got somewhere."""

    def __init__(self) -> None:
        self.driver: Driver | None = None

    def progressed(self, progress: Any) -> None:
        counts = progress.processors["counts"]
        if self.driver is not None and counts.events >= 10:
            lost = frozenset([ProcessorId("counts")])
            self.driver.tell(self.driver.failures.lost, lost, RuntimeError("gone"))
            self.driver = None


def counting() -> fk.Dataflow:
    flow = fk.Dataflow("watched")
    numbers = flow.read(Numbers(rows=EPOCHS * 10, rows_per_epoch=10), name="numbers")
    counts = numbers.group_by("value % 3 AS k").count(name="counts", policy=fk.lazy(every=4))
    counts.write(Remembered(), name="out")
    return flow


def test_a_failure_is_seen_while_it_happens(
    spark: SparkSession, tmp_path: Path, show: Show
) -> None:
    place = str(tmp_path / "state")
    feed, metrics, striker = Feed(place), PrometheusListener(), Striker()
    blueprint, store = counting().build(), open_store(place)
    with held(store), dashboard(feed, metrics, port=0) as address:
        store.adopt({**describe(blueprint), "about": about(blueprint, True)})
        options = Options(progress_seconds=0.05)
        driver = prepared(blueprint, store, spark, options, [feed, metrics, striker])
        striker.driver = driver
        running = Thread(target=driver.run)
        running.start()
        try:
            page = show(feed, address=address)
            expect(page.locator("#flow-name")).to_have_text("watched", timeout=60_000)
            expect(page.locator(".node")).to_have_count(3)
            expect(page.locator("#views .count")).to_have_text("1", timeout=60_000)
            page.get_by_role("link", name="Recoveries").click()
            expect(page.locator(".story")).to_contain_text("counts failed: RuntimeError: gone")
            expect(page.locator(".story")).to_contain_text(
                "until all was as before", timeout=60_000
            )
            expect(page.locator("#flow-state")).to_contain_text("ended", timeout=120_000)
            screenshot(page, "spark")
        finally:
            driver.stop()
            running.join()
        page.goto(f"{address.url}#/what-if/counts")
        expect(page.locator(".side h2")).to_have_text("If counts failed now")
        expect(page.locator(".fates li").first).to_contain_text("counts")
        text = metrics.text().decode()
    (entry,) = feed.recoveries.values()
    assert (entry["kind"], entry["failed"]) == ("error", ["counts"])
    assert 'falkirk_rollbacks_total{cause="error"} 1.0' in text
    assert "falkirk_recovery_seconds_count 1.0" in text
    assert f'falkirk_processor_completed_epoch{{processor="out"}} {EPOCHS - 1}.0' in text
    assert 'falkirk_running{flow="watched"} 0.0' in text
