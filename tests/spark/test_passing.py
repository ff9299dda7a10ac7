"""Rows that only pass through a processor are lost with it before they are used: nobody can tell.

Between its delivery and the notification of its time, a batch that is ``passing`` is a plan that
was not evaluated. A processor that fails then has neither the rows nor a result, and goes back.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark.costs import driven, one_by_one

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.core.machine.events import Effect, Event, Finish, RolledBack
from falkirk.demo.figure_1.flow import ALL, ANSWER, FRESH, Once
from falkirk.runtime.driver import Driver
from falkirk.testing.script import Remembered, Script

pytestmark = pytest.mark.spark

EPOCHS = 4
STRUCK = (2,)
"""The time at which rows are lost."""

Sinks = list[Remembered]
Make = Callable[[Sinks], fk.Dataflow]


def versions(policy: fk.Policy) -> Make:
    """Rows wait for the newest version until their time is complete."""

    def make(sinks: Sinks) -> fk.Dataflow:
        flow = fk.Dataflow("versions")
        slow = flow.read(Script([[{"value": n, "w": 10 * n} for n in range(40)]]), name="slow")
        fast = flow.read(Numbers(rows=EPOCHS * 5, rows_per_epoch=5), name="fast")
        fast.join_latest(slow, on="value", name="waiting", policy=policy).write(
            sinks[0], name="out"
        )
        return flow

    return make


def answers(sinks: Sinks) -> fk.Dataflow:
    """Questions wait for the answers that were given before."""
    flow = fk.Dataflow("answers")
    numbers = flow.read(Numbers(rows=EPOCHS * 4, rows_per_epoch=4), name="fast")
    values = [f"value AS {name}" for name in ANSWER]
    key = "CAST(value % 4 + value DIV 8 * 4 AS STRING) AS _key"  # two epochs ask the same
    asked = numbers.select("value AS _request", key, *values)
    once = asked.process(Once(), name="waiting", policy=fk.eager())
    once.port(ALL).write(sinks[0], name="answers")
    once.port(FRESH).write(sinks[1], name="fresh")
    return flow


@dataclass
class Strike:
    """Fails a processor as soon as rows at ``STRUCK`` have been delivered to it, once."""

    settled: list[bool] = field(default_factory=list)

    def prepare(self, driver: Driver, store: Any) -> None:
        """Listens to what the machine is told."""
        one_by_one(driver, "fast", lambda: None)
        step = driver.machine.step

        def stepped(event: Event) -> list[Effect]:
            effects = step(event)
            if isinstance(event, Finish) and self.meets(event):
                gone = RuntimeError("its rows are gone")
                driver.tell(driver.failures.lost, frozenset({"waiting"}), gone)
            return effects

        driver.machine.step = stepped  # type: ignore[method-assign]

    def meets(self, event: Finish) -> bool:
        """Whether it is the delivery of rows that only pass; notes whether they were evaluated."""
        if (event.work.processor, event.work.time) != ("waiting", STRUCK) or self.settled:
            return False
        self.settled += [each.content.settled for each in event.result.state or () if each.passing]
        return bool(self.settled)


def run(
    spark: SparkSession, folder: Path, make: Make, prepare: Callable[[Driver, Any], None]
) -> tuple[list[RolledBack], Sinks]:
    """The recoveries of a run, and what it showed."""
    sinks = [Remembered(), Remembered()]
    report = driven(spark, folder, make(sinks), prepare)
    assert not any(sink.repeated for sink in sinks)
    return report.recoveries, sinks


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(versions(fk.lazy()), id="lazy"),
        pytest.param(versions(fk.lazy(every=3)), id="every third"),
        pytest.param(versions(fk.eager()), id="eager"),
        pytest.param(answers, id="answers"),
    ],
)
def test_a_failure_between_delivery_and_notification_does_not_show(
    spark: SparkSession, tmp_path: Path, make: Make
) -> None:
    strike = Strike()
    recoveries, shown = run(spark, tmp_path / "struck", make, strike.prepare)
    assert strike.settled == [False], "the rows were still a plan when they were lost"
    (recovery,) = recoveries
    assert recovery.failed == {"waiting"}
    assert STRUCK not in recovery.frontiers["waiting"]

    none, expected = run(
        spark, tmp_path / "calm", make, lambda driver, _: one_by_one(driver, "fast", lambda: None)
    )
    assert not none
    assert [sink.times for sink in shown] == [sink.times for sink in expected]
    assert sorted(shown[0].times) == [(epoch,) for epoch in range(EPOCHS)]
