"""A driver that does all by itself, one thing after the other, so that runs are alike.

Elsewhere jobs, sources, sinks and the store have threads of their own, and which of them is faster
differs from run to run. Here whatever the driver would hand to a thread it does at once, and hears
of it in that order. The store writes when the driver has heard all that there is, or every few
rounds of that; what was to be written is lost if the driver crashes before. The clock is a count of
what has happened.

What outside decides stays as it is: a source that gives other rows each time, or code that fails
and is tried again after a pause.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from falkirk.core.machine.events import Event, Tick
from falkirk.runtime.driver import Driver
from falkirk.runtime.line import Item, Line
from falkirk.runtime.working import Working

P = ParamSpec("P")
T = TypeVar("T")

EVENT_SECONDS = 0.05
"""How long an event takes by the count: about what one takes that needs a job of Spark's."""


class AtOnce(ThreadPoolExecutor):
    """Does what it is given while its caller waits; it never has a thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Calls ``fn``, and has its result or what it raised."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Round(Line):
    """What is to be written in one round, which has an end."""

    def next(self, timeout: float | None) -> list[Item]:
        """Those who are written together next; after the last ones, the end."""
        if not (self._first or self._rest or self._last) and self._queue.empty():
            return [None]
        return super().next(0.0)


class Inbox(SimpleQueue[Callable[[], None]]):
    """What the driver is told. Before it waits for more, the store may write."""

    def __init__(self, write: Callable[[], None], pace: int) -> None:
        """``write`` is called every ``pace`` rounds, and when there is nothing else to do."""
        self.write, self.pace, self.rounds = write, pace, 0
        self.idle = False

    def get(self, block: bool = True, timeout: float | None = None) -> Callable[[], None]:
        """The next that was told; with a ``timeout`` it is the first of a round."""
        if timeout is not None:
            self.rounds += 1
            if self.empty() or self.rounds % self.pace == 0:
                self.write()
            self.idle = self.empty()
        return super().get(block, timeout)


def in_lockstep(driver: Driver, pace: int = 1) -> None:
    """Has a driver that has not begun do all by itself; the store writes every ``pace`` rounds."""
    persistence, working = driver.persistence, driver.working
    persistence.close()  # its thread ends, and the driver does what it did
    persistence._line = Round(persistence._later, persistence._line.urgent)
    persistence._writers = AtOnce()
    working._pool.shutdown()
    working._pool = AtOnce()
    driver.feeding._threads.shutdown()
    driver.feeding._threads = AtOnce()
    for threads in driver.outputs._threads.values():
        threads.shutdown()  # when the sink is attached
    driver.outputs._threads = {p: AtOnce() for p in driver.outputs.sinks}
    driver.inbox = _moved(driver.inbox, Inbox(persistence._run, pace))
    look_always(working)
    _count_time(driver)


def _moved(told: SimpleQueue[Callable[[], None]], inbox: Inbox) -> Inbox:
    """The new inbox, with what the driver was told before."""
    while not told.empty():
        inbox.put(told.get())
    return inbox


def look_always(working: Working) -> None:
    """Has all events looked at when some are begun: an earlier choice holds only for a while."""
    begin_all = working.begin_all

    def looking() -> None:
        working._chosen.clear()
        begin_all()

    working.begin_all = looking  # type: ignore[method-assign]


def _count_time(driver: Driver) -> None:
    """Has the machine's clock go on with every event, and otherwise only while nothing happens."""
    step, inbox = driver.step, driver.inbox
    assert isinstance(inbox, Inbox)
    now = 0.0

    def counted(event: Event) -> Any:
        nonlocal now
        if not isinstance(event, Tick):
            step(event)
            now += EVENT_SECONDS
        elif inbox.idle:
            now += driver.options.tick_seconds
        else:
            return
        step(Tick(now))

    driver.step = counted  # type: ignore[method-assign]
