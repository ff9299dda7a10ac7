"""One cell of the matrix: a whole run in a warm session, and everything that is counted of it."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayClient

from benchmarks.harness.unsaved import UnsavedStore
from benchmarks.inputs.draws import Draws, Shape
from benchmarks.policies.flow import COUNTS, WAYS, Shown, counting
from falkirk.core.machine.events import Again, Delivery, Finish
from falkirk.dataflow.description import describe
from falkirk.runtime.driver import Driver
from falkirk.runtime.listening import Listener, RollbackNotice
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared
from falkirk.store import open_store

CAUGHT_UP_SECONDS = 0.02
"""How exactly it is known when everybody is back where it was."""


@dataclass(frozen=True)
class Cell:
    """A way to protect the flow, what it is fed, and when its count loses all that it holds."""

    way: str
    shape: Shape = Shape()  # noqa: RUF009 - it is frozen
    epochs: int = 60
    seconds: float | None = None
    fails_at: int | None = None


@dataclass
class Outcome:
    """What was found of one run; of a failure, only where there was one."""

    epochs: int
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    batches: int = 0
    bytes: int = 0
    commits: int = 0
    jobs: int = 0
    calls: int = 0
    driver_seconds: float = 0.0
    python_seconds: float = 0.0
    caught_up: float = 0.0
    undone: int = 0
    rows_again: int = 0
    rows_read_again: int = 0
    counted: float = 1.0

    @property
    def ms(self) -> float:
        """Milliseconds an epoch."""
        return self.seconds / self.epochs * 1e3


class Recovery(Listener):
    """Hears how far the count went back, and when all were where they had been."""

    def __init__(self, outcome: Outcome) -> None:
        """Notes it in ``outcome``."""
        self.outcome = outcome

    def rolled_back(self, rollback: RollbackNotice) -> None:
        """Somebody went back."""
        self.outcome.undone += rollback.undone.get(COUNTS, 0)

    def caught_up(self, rollback: RollbackNotice, seconds: float) -> None:
        """All are where they were."""
        self.outcome.caught_up = max(self.outcome.caught_up, seconds)


def run_cell(session: Any, cell: Cell) -> Outcome:
    """Runs a cell to its end, and sees that its counts are right."""
    way, found = WAYS[cell.way], Outcome(cell.epochs)
    source, sink = (
        Draws(cell.shape, cell.epochs, cell.seconds),
        Shown(cell.shape.keys, way.exact),
    )
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    store: Any = open_store(place / "state") if way.durable else UnsavedStore()
    try:
        with held(store):
            lost = driven(session, store, source, cell, sink, found)
    finally:
        store.close()
        shutil.rmtree(place, ignore_errors=True)
    found.counted = int(sink.counts.sum()) / (cell.shape.rows * cell.epochs)
    # Who is at least once may lose its state, and nothing else.
    if found.counted != 1 and (way.exact or cell.fails_at is None):
        raise RuntimeError(f"{cell}: {found.counted:.2%} of all rows were counted")
    if cell.seconds is not None:
        late = {epoch: sink.at[epoch] - source.due(epoch) for epoch in sorted(sink.at)}
        found.latencies = [late[e] for e in late if lost is None or sink.at[e] < lost]
        found.after = [late[e] for e in late if lost is not None and sink.at[e] >= lost]
    found.rows_read_again = (source.reads.total() - cell.epochs) * cell.shape.rows
    return found


def driven(
    session: Any, store: Any, source: Draws, cell: Cell, sink: Shown, found: Outcome
) -> float | None:
    """Runs the flow and counts; returns when the count lost what it held."""
    blueprint = counting(source, WAYS[cell.way], sink).build()
    store.adopt(describe(blueprint))
    fails = cell.fails_at is not None
    options = Options(progress_seconds=CAUGHT_UP_SECONDS) if fails else Options()
    listeners = [Recovery(found)] if fails else []
    driver = prepared(blueprint, store, session, options, listeners)
    lost: list[float] = []

    def heard(epoch: int) -> None:
        if epoch == cell.fails_at and not lost:
            lost.append(time.monotonic())
            gone = frozenset([COUNTS]), RuntimeError("all that it held is gone")
            driver.tell(driver.failures.lost, *gone)

    source.heard = heard
    with counted(session, store, driver, found) as delivered:
        driver.run()
    found.commits = driver.persistence.commits
    found.rows_again = (len(delivered) - len(set(delivered))) * cell.shape.rows
    return lost[0] if lost else None


@contextmanager
def counted(session: Any, store: Any, driver: Driver, found: Outcome) -> Iterator[list[Any]]:
    """Counts what a run does; gives the times at which the count was handed rows."""
    delivered: list[Any] = []
    write, seal, step = store.files.write, store.files.seal, driver.machine.step
    send = GatewayClient.send_command

    def noted(reference: Any) -> Any:
        found.batches += 1
        found.bytes += reference.size
        return reference

    def stepping(event: Any) -> Any:
        if isinstance(event, Finish) and event.work.processor == COUNTS:
            item = event.work.item
            replayed = isinstance(item, Again) and item.past.batch is not None
            if replayed or isinstance(item, Delivery):
                delivered.append(event.work.time)
        return step(event)

    def sending(self: Any, *args: Any, **options: Any) -> Any:
        found.calls += 1
        return send(self, *args, **options)

    store.files.write = lambda table, piece=None: noted(write(table, piece))
    store.files.seal = lambda name: noted(seal(name))
    driver.machine.step = stepping  # type: ignore[method-assign]
    GatewayClient.send_command = sending
    jobs = last_job(session)
    begun = time.monotonic(), time.thread_time(), time.process_time()
    try:
        yield delivered
    finally:
        found.seconds = time.monotonic() - begun[0]
        found.driver_seconds = time.thread_time() - begun[1]
        found.python_seconds = time.process_time() - begun[2]
        GatewayClient.send_command = send
        found.jobs = last_job(session) - jobs


def last_job(session: Any) -> int:
    """The number of the newest job; Spark remembers few of them, but counts all."""
    return max(session.sparkContext.statusTracker().getJobIdsForGroup(), default=-1)
