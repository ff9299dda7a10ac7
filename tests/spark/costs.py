"""Counts what each epoch of a flow costs: Spark jobs, files, and transactions of the store.

Epochs come one at a time and no two checkpoints share a transaction, so that the numbers are those
of the policies, and not of how fast the machine happens to be.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Persist
from falkirk.runtime import line, tidying
from falkirk.runtime.driver import Driver
from falkirk.runtime.options import Options
from falkirk.runtime.report import Report
from falkirk.runtime.run import prepared
from falkirk.store import open_store
from falkirk.store.reference import Piece
from falkirk.store.store import SqlStore


@dataclass(frozen=True)
class Cost:
    """What was done: transactions are those that save something, and not those that collect."""

    jobs: int
    files: int
    transactions: int

    def since(self, before: "Cost") -> "Cost":
        """What was done after ``before``."""
        return Cost(
            self.jobs - before.jobs,
            self.files - before.files,
            self.transactions - before.transactions,
        )


class Meter:
    """Counts from now on what Spark and a store do."""

    def __init__(self, spark: SparkSession, store: SqlStore) -> None:
        """Nothing is counted yet."""
        self.context = spark.sparkContext
        self.files = self.transactions = 0
        self._here = threading.local()
        self._write, self._reserve = store.files.write, store.files.reserve
        self._transact = store.transact
        store.files.write = self.write  # type: ignore[method-assign]
        store.files.reserve = self.reserve  # type: ignore[method-assign]
        store.transact = self.transact  # type: ignore[method-assign]
        store.database.before_commit = self.before_commit
        self._before = frozenset(self.jobs())

    def jobs(self) -> set[int]:
        """All jobs that have begun, by their numbers."""
        bus: Any = self.context._jsc.sc().listenerBus()
        bus.waitUntilEmpty()
        return set(self.context.statusTracker().getJobIdsForGroup())

    def read(self) -> Cost:
        """What was counted so far."""
        return Cost(len(self.jobs() - self._before), self.files, self.transactions)

    def write(self, table: Any, piece: Piece | None = None) -> Any:
        """A file is written by Arrow."""
        self.files += 1
        return self._write(table, piece)

    def reserve(self, piece: Piece | None = None) -> tuple[str, str]:
        """A folder is written by Spark."""
        self.files += 1
        return self._reserve(piece)

    def transact(self, effects: Sequence[Any], captures: Mapping[int, Any] | None = None) -> None:
        """Effects go into a transaction."""
        self._here.saves = any(isinstance(effect, Persist) for effect in effects)
        try:
            self._transact(effects, captures)
        finally:
            self._here.saves = False

    def before_commit(self) -> None:
        """A transaction is about to be made durable; the lease's own is on another thread."""
        self.transactions += getattr(self._here, "saves", False)


def one_by_one(driver: Driver, name: str, begins: Callable[[], None]) -> None:
    """Lets the input ``name`` read only when all is quiet and all other inputs have ended.

    ``begins`` is called before each of its epochs.
    """
    pressure, allows = driver.feeding.pressure, driver.feeding.pressure.allows

    def allowed(machine: Machine, p: Any) -> bool:
        if not allows(machine, p):
            return False
        if p != name:
            return True
        others = [each for each in driver.feeding.readers.values() if each.name != name]
        if not all(each.ended for each in others) or not is_quiet(driver):
            return False
        begins()
        return True

    pressure.allows = allowed  # type: ignore[method-assign]


def is_quiet(driver: Driver) -> bool:
    """Whether nothing is under way: threads tell the driver first, and then count down."""
    under_way = (
        driver.working.busy
        or driver.persistence.unfinished
        or driver.outputs.waiting
        or driver.feeding.committing
        or driver.failures.pending
    )
    return not under_way and driver.inbox.empty()


def driven(
    spark: SparkSession, folder: Path, flow: fk.Dataflow, prepare: Callable[[Driver, SqlStore], Any]
) -> Report:
    """Runs a flow whose driver is prepared before it starts."""
    store = open_store(folder)
    try:
        store.acquire()
        driver = prepared(flow.build(), store, spark, Options(tick_seconds=0.005))
        prepare(driver, store)
        return driver.run()
    finally:
        store.close()


def costs(spark: SparkSession, folder: Path, flow: fk.Dataflow, name: str) -> list[Cost]:
    """What each epoch of the input ``name`` costs, without the last one: it ends the run, too."""
    marks: list[Cost] = []

    def prepare(driver: Driver, store: SqlStore) -> None:
        meter = Meter(spark, store)
        one_by_one(driver, name, lambda: marks.append(meter.read()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line, "GROUP_MAX", 1)
        patch.setattr(tidying, "QUIET_SECONDS", 0.001)
        driven(spark, folder, flow, prepare)
    return [after.since(before) for before, after in pairwise(marks)]
