"""When an event that has failed is tried again."""

from types import SimpleNamespace
from typing import Any, cast

from falkirk.core.errors import EngineError
from falkirk.core.machine.events import Notification, PutBack, Work
from falkirk.core.policy import lazy
from falkirk.runtime import failures
from falkirk.runtime.blocks import LostBlocksError
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
