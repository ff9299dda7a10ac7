"""Requests over HTTP through flows on Spark: answered when all is safe, and never twice."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.dataflow.description import describe
from falkirk.runtime.driver import Driver
from falkirk.runtime.run import held, prepared
from falkirk.testing.script import Remembered

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCHEMA = "n BIGINT NOT NULL, tag STRING"
SECONDS = 120.0


@contextmanager
def running(
    flow: fk.Dataflow, server: fk.HttpRequests, folder: Path, spark: SparkSession
) -> Iterator[Driver]:
    """A run on another thread, which is stopped at the end; or broken off before by the test."""
    blueprint, failures = flow.build(), list[BaseException]()
    with held(folder) as store:
        store.adopt(describe(blueprint))
        driver = prepared(blueprint, store, spark, fk.Options())

        def go() -> None:
            try:
                driver.run()
            except BaseException as error:
                failures.append(error)

        thread = Thread(target=go)
        thread.start()
        try:
            server.wait(SECONDS)
            yield driver
        finally:
            server.stop()
            thread.join(SECONDS)
    assert not thread.is_alive()
    assert all(isinstance(error, Broken) for error in failures), failures


class Broken(Exception):
    """Stands for the death of a process."""


def post(server: fk.HttpRequests, n: int, **given: Any) -> httpx.Response:
    return httpx.post(server.url, json={"n": n, **given}, timeout=SECONDS)


def test_answers_of_an_ephemeral_region_and_nothing_of_a_request_is_stored(
    spark: SparkSession, tmp_path: Path
) -> None:
    server, flow = fk.HttpRequests(SCHEMA), fk.Dataflow("queries")
    requests = flow.read(server, name="requests")
    with flow.policy(fk.ephemeral()):
        answers = requests.select("_request", "2 * n AS twice", "tag").where("twice <> 26")
    answers.write(server.answers(), name="answers")
    secret = "a-text-that-is-in-no-file"
    with running(flow, server, tmp_path, spark), ThreadPoolExecutor(15) as pool:
        found = list(pool.map(lambda n: post(server, n, tag=f"{secret}-{n}"), range(15)))
        many = httpx.post(server.url, json=[{"n": 1}, {"n": 2}], timeout=SECONDS)
    for n, answer in enumerate(found):
        if n == 13:
            assert answer.status_code == 204
        else:
            assert answer.json() == {"twice": 2 * n, "tag": f"{secret}-{n}"}
    assert sorted(row["twice"] for row in many.json()) == [2, 4]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not any(secret.encode() in path.read_bytes() for path in files)
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_client_does_not_wait_for_checkpoints_that_others_would_make_due(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The count is saved every hundredth epoch, and there is but one client."""
    server, flow, totals = fk.HttpRequests(SCHEMA), fk.Dataflow("counting"), Remembered()
    requests = flow.read(server, name="requests")
    requests.select("_request", "n").write(server.answers(), name="answers")
    count = requests.group_by("n % 2 AS odd").count(name="count", policy=fk.lazy(every=100))
    count.write(totals, name="totals")
    with running(flow, server, tmp_path, spark):
        for n in range(3):
            assert post(server, n).json() == {"n": n}
            wait_for(lambda n=n: len(totals.times) == n + 1)  # durable then, and shown soon


@pytest.mark.parametrize("windowed", [False, True])
def test_without_answers_an_acknowledgement_is_all_there_is(
    spark: SparkSession, tmp_path: Path, windowed: bool
) -> None:
    server, flow, events = fk.HttpRequests(SCHEMA), fk.Dataflow("events"), Remembered()
    read = flow.read(server, name="requests").select("n")
    read.write(events, name="events")
    if windowed:
        read.in_sequence().windows(count=100).write(Remembered(), name="hundreds")
    with running(flow, server, tmp_path, spark):
        assert post(server, 5).status_code == 204
        wait_for(lambda: events.rows() == [{"n": 5}])


class Held(fk.Processor):
    """Holds its first event until it is let go, and counts its calls."""

    stateless = True

    def __init__(self) -> None:
        self.calls, self.reached, self.released = 0, Event(), Event()

    def on_message(self, ctx: Any, port: int, time: Any, batch: Any) -> None:
        """Sends the batch on."""
        self.calls += 1
        self.reached.set()
        self.released.wait(SECONDS)
        ctx.send(batch)


def test_a_rollback_reads_unanswered_requests_again(spark: SparkSession, tmp_path: Path) -> None:
    server, flow, totals = fk.HttpRequests(SCHEMA), fk.Dataflow("rolling"), Remembered()
    held_back = Held()
    requests = flow.read(server, name="requests")
    requests.select("_request", "n").write(server.answers(), name="answers")
    passed = requests.select("n").process(held_back, name="held", policy=fk.ephemeral())
    passed.group_by("n").count(name="count").write(totals, name="totals")
    with running(flow, server, tmp_path, spark) as driver, ThreadPoolExecutor() as pool:
        held_back.released.set()
        assert post(server, 1).json() == {"n": 1}
        held_back.reached.clear(), held_back.released.clear()
        waiting = pool.submit(post, server, 2)
        assert held_back.reached.wait(SECONDS)
        driver.tell(driver.failures.lost, frozenset(["held", "count"]), RuntimeError("gone"))
        rolled = Event()
        driver.tell(lambda: driver.persistence.ask(rolled.set))
        assert rolled.wait(SECONDS)
        held_back.released.set()
        assert waiting.result().json() == {"n": 2}
        assert post(server, 2).json() == {"n": 2}
    assert driver.report.recoveries
    assert held_back.calls == 4
    newest = {row["n"]: row["count"] for row in totals.rows()}
    assert newest == {1: 1, 2: 2}


def test_a_new_process_never_gives_an_old_time_another_content(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Behind an at-least-once step somebody is ahead of the source, and passes over repetitions."""
    seen, totals = Remembered(), Remembered()

    def flow_of(server: fk.HttpRequests) -> fk.Dataflow:
        flow = fk.Dataflow("lives")
        requests = flow.read(server, name="requests")
        requests.select("_request", "n").write(server.answers("at once"), name="answers")
        careless = requests.select("n", name="careless", policy=fk.at_least_once())
        careless.write(seen, name="seen")
        count = requests.group_by("n").count(name="count", policy=fk.lazy(every=100))
        count.write(totals, name="totals")
        return flow

    first = fk.HttpRequests(SCHEMA)
    with running(flow_of(first), first, tmp_path, spark) as driver:
        for n in (1, 2):
            assert post(first, n).json() == {"n": n}
        wait_for(lambda: len(seen.times) == 2)
        driver.tell(driver.break_off, Broken("the process dies"))
    assert not totals.times
    second = fk.HttpRequests(SCHEMA)
    with running(flow_of(second), second, tmp_path, spark):
        assert post(second, 3).json() == {"n": 3}
    assert seen.times == {(0,): [{"n": 1}], (1,): [{"n": 2}], (2,): [{"n": 3}]}
    assert totals.rows() == [{"n": 3, "count": 1}]


def wait_for(condition: Any) -> None:
    import time

    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.01)
