"""What fails and what is done about it: user code, jobs, lost contents.

User code that raises has changed nothing yet, so its event is offered again after a pause; only
when that keeps failing does the flow stop, with nothing lost. If Spark itself is gone it stops at
once, for no code is to blame and no batch is to be set aside. A plan that Spark does not understand
is the same plan the next time, so it is not offered again. A content that is gone is the failure
of the processor that owned it: the machine rolls back (§4.4) and everybody else goes on.
"""

import logging
import time
from collections import Counter
from threading import Timer
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger

from falkirk.core.errors import ExecutionError, FalkirkError, StoreError
from falkirk.core.machine.events import (
    Delivery,
    Fail,
    Finish,
    Item,
    PutBack,
    Result,
    Suspect,
    Work,
)
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId
from falkirk.dataflow.context import ASIDE
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import is_loss
from falkirk.runtime.content import PlanError
from falkirk.runtime.patience import LOSSES, USER_CODE
from falkirk.runtime.tasks import Task

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver

ROWS_SHOWN = 3

NOT_FOUND = "_NOT_FOUND"

QUERY_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where PySpark logs every query that Spark refuses."""

log = logging.getLogger("falkirk.failures")


class Failures:
    """Decides for the driver what a failure means."""

    def __init__(self, driver: "Driver") -> None:
        """Nothing has failed."""
        hush()
        self.driver = driver
        self.attempts: Counter[Any] = Counter()
        self.until: dict[Any, float] = {}
        self.missing: set[Any] = set()
        self.recovering: frozenset[ProcessorId] = frozenset()

    @property
    def pending(self) -> bool:
        """Whether something waits to be tried again."""
        now = time.monotonic()
        return bool(self.recovering) or any(until > now for until in self.until.values())

    def delays(self, item: Item) -> bool:
        """Whether an event has failed and its pause is not over.

        One that has missed rows also waits until it is known what is lost.
        """
        if not self.until:
            return False
        which = identity(item)
        if which in self.missing and self.driver.losses.pending:
            return True
        return self.until.get(which, 0.0) > time.monotonic()

    def forget(self, work: Work) -> None:
        """An event was processed after all."""
        if self.attempts:
            which = identity(work.item)
            self.attempts.pop(which, None)
            self.until.pop(which, None)
            self.missing.discard(which)

    def raised(self, task: Task, error: Exception) -> None:
        """User code, or a job, failed while an event was processed."""
        if isinstance(error, StoreError) or self.driver.gone(error) is not None:
            self.driver.break_off(error)
            return
        which = identity(task.work.item)
        self.attempts[which] += 1
        missed = is_loss(error)
        pause = (LOSSES if missed else USER_CODE).pause_after(self.attempts[which])
        if pause is None or isinstance(error, FalkirkError) or is_misplanned(error):
            self.until.pop(which, None)
            if task.batch is not None and task.context.policy.aside and not missed:
                self.set_aside(task, error)
            else:
                self.driver.break_off(self.described(task, error))
            return
        log.warning("%s at %s: %s; again in %.1f s", *which[:2], error, pause)
        self.driver.report.retries += 1
        self.until[which] = time.monotonic() + pause
        self.driver.step(PutBack(task.work))
        Timer(pause, self.driver.tell, [lambda: None]).start()
        if missed:
            self.missing.add(which)
            self.driver.losses.look()

    def set_aside(self, task: Task, error: Exception) -> None:
        """Keeps the rows of a batch that cannot be processed, as state of its time, and goes on.

        Of a fused plan these are the rows before its first step, for the others cannot be had.
        """
        assert task.batch is not None, "a notification has nothing to set aside"
        log.error("set aside: %s", self.described(task, error))
        own = self.driver.machine.own_state(task.work)
        rows = Batch(task.batch.content.origin, self.driver.materialiser, ASIDE)
        self.driver.report.set_aside.append((task.work.processor, task.work.time))
        self.driver.step(Finish(task.work, Result(state=(*own, rows))))

    def described(self, task: Task, error: Exception) -> Exception:
        """The error that stops the flow: which processor, which time, which rows."""
        p = task.work.processor
        if isinstance(error, PlanError) and error.processor in self.driver.blueprint.nodes:
            p, error = ProcessorId(error.processor), error.error
        node = self.driver.blueprint.nodes[p]
        ours = isinstance(error, ExecutionError)
        told = error.args[0] if ours else f"{type(error).__name__}: {error}"
        failed = ExecutionError(
            f"{node.location}: {p!r} failed at time {task.work.time}, on"
            f" {shown_rows(task)}: {told}. Nothing that was stored is lost: mend the code and run"
            " again on the same store"
        )
        failed.__cause__ = error
        return failed

    def lost(self, processors: frozenset[ProcessorId], error: Exception) -> None:
        """Contents that these processors owned are gone, and were not durable (§4.4).

        What the store holds of them is read after all that was written before; until then they are
        suspected, and everybody else goes on.
        """
        processors -= self.recovering
        if not processors:
            return
        log.warning("%s lost what they held: %s", sorted(processors), error)
        self.recovering |= processors
        self.driver.telling.suspect(processors, error)
        self.driver.step(Suspect(processors))
        self._ask(processors)

    def _ask(self, processors: frozenset[ProcessorId]) -> None:
        folds = self._folds(processors)
        self.driver.persistence.ask(lambda: self._load(processors, folds))

    def _load(self, processors: frozenset[ProcessorId], folds: list[int]) -> None:
        driver = self.driver
        stored = driver.store.load(driver.blueprint.flow, driver.revive, processors)
        driver.tell(self._fail, processors, stored, folds)

    def _fail(
        self,
        processors: frozenset[ProcessorId],
        stored: dict[ProcessorId, Stored],
        folds: list[int],
    ) -> None:
        if self._folds(processors) != folds:
            # More was folded since the store was asked: what was done with it would be done again.
            self._ask(processors)
            return
        self.recovering -= processors
        self.driver.step(Fail(processors, stored))

    def _folds(self, processors: frozenset[ProcessorId]) -> list[int]:
        return [self.driver.persistence.folds[p] for p in sorted(processors)]


def is_misplanned(error: Exception) -> bool:
    """Whether Spark does not understand a plan, which it would not the next time either.

    What a plan has not found, a table or a path, may be there in a moment.
    """
    if isinstance(error, PlanError):
        error = error.error
    return isinstance(error, AnalysisException) and NOT_FOUND not in str(error.getCondition())


def hush() -> None:
    """Has PySpark not log, with a stack trace in JSON, the errors that are told here anyway."""
    for name in QUERY_LOGGERS:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)


def identity(item: Item) -> tuple[Any, ...]:
    """What tells an event from others, also when it is offered again."""
    number = item.message.number if isinstance(item, Delivery) else type(item).__name__
    time_ = item.message.time if isinstance(item, Delivery) else item.time
    return item.processor, time_, number


def shown_rows(task: Task) -> str:
    """A few rows of the batch that failed, if they can be had."""
    if task.batch is None:
        return "its notification"
    content = task.batch.content
    if content.table is None:
        many = "" if content.rows is None else f" of {content.rows} rows"
        return f"a batch{many} from {' > '.join(content.through) or 'its input'}"
    rows = content.table.slice(0, ROWS_SHOWN).to_pylist()
    more = "" if content.table.num_rows <= ROWS_SHOWN else f" and {content.table.num_rows} in all"
    return f"rows {rows}{more}"
