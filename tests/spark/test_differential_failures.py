"""Failures inside loops: rollback to (epoch, round) in place, restores, restarts; the same rows."""

import random
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark.changing import shown
from tests.spark.test_differential_graphs import SCHEMA, random_graph, weak

import falkirk as fk
from falkirk.core.machine.events import Finish, RolledBack
from falkirk.core.machine.recovery import plan
from falkirk.core.times import INF
from falkirk.dataflow.description import describe
from falkirk.differential import graphs
from falkirk.runtime.driver import Driver
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared
from falkirk.store import open_store
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark

POLICIES = {
    "lazy": fk.lazy(round_seconds=0),
    "lazy every 3": fk.lazy(every=3, round_seconds=0),
    "eager": fk.eager(),
    "history": fk.history(),
}
EPOCHS = 8


class StopError(Exception):
    """The driver is told to go away."""


class Troubled:
    """Runs a flow, over and over on one store, and makes processors and drivers fail by a seed."""

    def __init__(self, spark: SparkSession, store: Path, seed: int) -> None:
        self.spark, self.store, self.rng = spark, store, random.Random(seed)
        self.recoveries: list[RolledBack] = []
        self.restarts = 0

    def run(self, flow: fk.Dataflow, options: Options, failures: int, restarts: int) -> None:
        """Goes on until the inputs have ended."""
        while not self.attempt(flow, options, failures, self.restarts < restarts):
            self.restarts += 1

    def attempt(self, flow: fk.Dataflow, options: Options, failures: int, stops: bool) -> bool:
        blueprint, store = flow.build(), open_store(str(self.store))
        with held(store):
            store.adopt(describe(blueprint))
            driver = prepared(blueprint, store, self.spark, options)
            inner = [p for p, node in blueprint.nodes.items() if node.processor is not None]
            self.strike(driver, inner, failures, stops)
            try:
                driver.run()
            except StopError:
                return False
            finally:
                self.recoveries += driver.report.recoveries
                store.close()
        return True

    def strike(self, driver: Driver, inner: list[Any], failures: int, stops: bool) -> None:
        """Counts finished events; at some of them a processor fails, and at one all is over.

        Besides, whoever would go back to a round inside an epoch fails, until someone has:
        how far checkpoints are at a given event depends on who is faster.
        """
        when = {self.rng.randrange(5, 400) for _ in range(failures)}
        last = self.rng.randrange(60, 300) if stops else None
        step, seen = driver.step, 0

        def counted(event: Any) -> None:
            nonlocal seen
            step(event)
            if not isinstance(event, Finish):
                return
            seen += 1
            lost = self.rng.sample(inner, self.rng.choice([1, 1, 2])) if seen in when else []
            if lost:
                settled(driver)
                driver.tell(driver.failures.lost, frozenset(lost), RuntimeError("gone"))
            elif seen % 2 == 0 and not rounds(self.recoveries + driver.report.recoveries):
                settled(driver)
                driver.tell(self.strike_in_a_round, driver, inner)
            if seen == last:
                driver.break_off(StopError())

        driver.step = counted  # type: ignore[method-assign]

    def strike_in_a_round(self, driver: Driver, inner: list[Any]) -> None:
        """Somebody fails whom that takes back to a part of the rounds of an epoch, if any would."""
        state = driver.machine.state
        partly = [p for p in inner if ends_in_a_round(state.standing[p].saved)]
        for p in partly:
            if any(map(ends_in_a_round, plan(state, {p}).frontiers.values())):
                driver.failures.lost(frozenset({p}), RuntimeError("gone in a round"))
                return


def settled(driver: Driver) -> None:
    """Waits until all checkpoints so far are durable and count, however slow the disk is."""
    durable = Event()
    driver.persistence.ask(durable.set)
    assert durable.wait(60)


@pytest.mark.parametrize("policy", POLICIES)
def test_failures_in_the_middle_of_a_loop_change_nothing(
    spark: SparkSession, tmp_path: Path, policy: str
) -> None:
    changes, sink = random_graph(10, EPOCHS, 6, seed=21), Remembered()
    flow = fk.Dataflow("components")
    edges = changes.read(flow, "edges", SCHEMA)
    with flow.policy(POLICIES[policy]):
        made = graphs.connected_components(edges)
    made.changes().write(sink, name="out")
    troubled = Troubled(spark, tmp_path / "store", seed=22)
    troubled.run(flow, Options(), failures=6, restarts=2)
    assert shown(sink, ("node", "component"), EPOCHS) == [weak(sums) for sums in changes.sums]
    assert len(troubled.recoveries) >= 4
    assert troubled.restarts == 2
    if policy != "history":  # which replays, and so seldom goes back at all
        assert rounds(troubled.recoveries), "some went back to a round in the middle of an epoch"


def rounds(recoveries: list[RolledBack]) -> list[Any]:
    """The frontiers that end in the middle of the rounds of an epoch."""
    found = [frontier for each in recoveries for frontier in each.frontiers.values()]
    return [frontier for frontier in found if ends_in_a_round(frontier)]


def ends_in_a_round(frontier: Any) -> bool:
    """Whether a frontier has some rounds of an epoch, and not all."""
    if frontier.is_top:
        return False
    return any(len(time) > 1 and time[-1] != INF for time in frontier.maximal)
