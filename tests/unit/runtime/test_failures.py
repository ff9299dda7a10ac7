"""When an event that has failed is tried again."""

import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.logger import PySparkLogger

from falkirk.core.errors import EngineError, ExecutionError
from falkirk.core.machine.events import Finish, Notification, PutBack, Work
from falkirk.core.policy import lazy
from falkirk.runtime import failures
from falkirk.runtime.blocks import LostBlocksError
from falkirk.runtime.content import PlanError
from falkirk.runtime.report import Report

ITEM = Notification("p", (1,))


class Losses:
    """Looks until it is told that it has looked."""

    pending = False

    def look(self) -> None:
        """Begins to look."""
        self.pending = True


class Driver:
    """What a failure needs of a driver."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self.losses, self.report = Losses(), Report()
        self.ended: EngineError | None = None
        self.broken: list[Exception] = []
        self.break_off = self.broken.append
        self.steps: list[Any] = []
        self.step = self.steps.append
        self.blueprint = SimpleNamespace(nodes={"p": SimpleNamespace(location="app.py:5")})
        self.machine = SimpleNamespace(own_state=lambda work: ())
        self.materialiser = None

    def gone(self, error: Exception) -> EngineError | None:
        """Whether Spark is."""
        return self.ended

    def tell(self, *_: Any) -> None:
        """Wakes nobody."""


def failed(error: Exception) -> tuple[Driver, failures.Failures]:
    """An event has failed, once, and its pause is over."""
    driver = Driver()
    found = failures.Failures(cast(Any, driver))
    task = SimpleNamespace(work=Work(1, 0, ITEM), batch=None)
    found.raised(cast(Any, task), error)
    assert [type(step) for step in driver.steps] == [PutBack]
    assert found.delays(ITEM)
    found.until = dict.fromkeys(found.until, 0.0)
    return driver, found


def test_an_event_that_has_missed_rows_waits_until_it_is_known_what_is_lost() -> None:
    """Else it would meet them again and again, and be given up before the look has ended."""
    driver, found = failed(LostBlocksError("gone"))
    assert found.delays(ITEM)
    assert not found.delays(Notification("p", (2,)))
    driver.losses.pending = False
    assert not found.delays(ITEM)


def test_an_event_that_has_raised_waits_for_nobody() -> None:
    driver, found = failed(ValueError("seven"))
    driver.losses.look()
    assert not found.delays(ITEM)


def test_when_spark_is_gone_no_batch_is_set_aside_and_nothing_is_tried_again() -> None:
    """It is the last attempt, and the policy would take the batch for the one to blame."""
    driver = Driver()
    driver.ended = EngineError("the JVM of Spark has ended")
    found = failures.Failures(cast(Any, driver))
    context = SimpleNamespace(policy=lazy().setting_aside())
    task = SimpleNamespace(work=Work(1, 0, ITEM), batch=object(), context=context)
    found.attempts[failures.identity(ITEM)] = 99
    error = ConnectionRefusedError("nobody is there")
    found.raised(cast(Any, task), error)
    assert driver.broken == [error]
    assert driver.steps == []
    assert driver.report.retries == 0


class Refused(AnalysisException):
    """What Spark says of a plan; without a JVM only its condition is known."""

    def getCondition(self) -> str:
        """Why it is refused."""
        return str(self.args[0])


UNKNOWN_COLUMN = Refused("UNRESOLVED_COLUMN.WITH_SUGGESTION")


@pytest.mark.parametrize(
    "error",
    [UNKNOWN_COLUMN, ParseException("at line 1"), PlanError("p", UNKNOWN_COLUMN)],
    ids=["column", "syntax", "fused"],
)
def test_a_plan_that_spark_does_not_understand_stops_the_flow_at_once(error: Exception) -> None:
    driver = Driver()
    context = SimpleNamespace(policy=lazy())
    task = SimpleNamespace(work=Work(1, 0, ITEM), batch=None, context=context)
    failures.Failures(cast(Any, driver)).raised(cast(Any, task), error)
    assert driver.steps == []
    assert driver.report.retries == 0
    (told,) = driver.broken
    assert isinstance(told, ExecutionError)
    assert str(told).startswith("[FK600] app.py:5: 'p' failed at time (1,)")


def test_where_batches_are_set_aside_it_is_set_aside_at_once() -> None:
    """Another batch may have other columns, and the policy says that the flow goes on."""
    driver = Driver()
    context = SimpleNamespace(policy=lazy().setting_aside())
    content = SimpleNamespace(table=None, rows=3, through=(), origin=None)
    batch = SimpleNamespace(content=content)
    task = SimpleNamespace(work=Work(1, 0, ITEM), batch=batch, context=context)
    failures.Failures(cast(Any, driver)).raised(cast(Any, task), UNKNOWN_COLUMN)
    assert [type(step) for step in driver.steps] == [Finish]
    assert driver.report.set_aside == [("p", (1,))]
    assert driver.report.retries == 0
    assert driver.broken == []


def test_what_a_plan_has_not_found_may_be_there_in_a_moment() -> None:
    failed(Refused("PATH_NOT_FOUND"))


def test_pyspark_does_not_log_what_is_told_here() -> None:
    failures.Failures(cast(Any, Driver()))
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        assert not PySparkLogger.getLogger(name).isEnabledFor(logging.ERROR)
