"""The events that are being processed: begun in turn, run by the driver itself or beside it."""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import DefinitionError
from falkirk.core.machine.events import Finish, Item, Result
from falkirk.runtime.blocks import LostBlocksError
from falkirk.runtime.tasks import Task, Tasks
from falkirk.runtime.turns import Turns

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver

LOOK_AGAIN = 16
"""How many events the driver does itself before it looks whether a more urgent one has come."""
LOOK_WORTH = 16
"""For so many enabled events that a look finds, one more is done before the next look."""
LOOK_SECONDS = 0.05
"""How long it holds: an event that came since, and needs no thread, waits no longer."""


class Working:
    """Begins events, and tells the machine what came of them.

    All is called by the driver, but what runs on its threads.
    """

    def __init__(self, driver: "Driver", tasks: Tasks, turns: Turns, threads: int) -> None:
        """For a driver; at most ``threads`` are busy at a time."""
        self.driver, self.tasks, self.turns, self.threads = driver, tasks, turns, threads
        self.busy = 0
        self._chosen: deque[Item] = deque()
        self._looked_at = 0.0
        self._pool = ThreadPoolExecutor(threads, "falkirk-job")

    def begin_all(self) -> None:
        """Begins what is enabled, as far as there are threads for it."""
        if time.monotonic() < self._looked_at + LOOK_SECONDS and self._begin_chosen():
            return
        while self._begin_some():
            pass

    def _begin_chosen(self) -> bool:
        """Gives free threads to what an earlier look has chosen; whether that left none idle."""
        chosen = bool(self._chosen)
        while self._chosen and self.busy < self.threads:
            item = self._chosen.popleft()
            if self.driver.machine.is_enabled(item) and not self._delays(item):
                self._begin(item)
        return chosen and self.busy == self.threads

    def _begin_some(self) -> bool:
        """Begins some of what is enabled, in the order of turns; True if there may be more.

        There may be thousands, so many are begun for one look at all of them, and unless somebody
        waits for answers the more, the longer the look took; some are chosen for threads that are
        free later. Once the driver has done one itself, which may have led to one that comes first,
        the others get no thread.
        """
        machine, threads, begun, done, passed_over = self.driver.machine, self.threads, 0, 0, 0
        enabled = [item for item in machine.enabled() if not self._delays(item)]
        more = 0 if self.turns.awaited else len(enabled) // LOOK_WORTH
        most = LOOK_AGAIN + more
        self._chosen.clear()
        self._looked_at = time.monotonic()
        for item in self.turns.first(enabled, threads - self.busy, threads, more):
            if not self.turns.may_begin(item, 0 if done else threads - self.busy, threads):
                self._chosen.append(item)
                continue
            if begun and not machine.is_enabled(item):
                passed_over += 1
                continue
            begun, done = begun + 1, done + self._begin_row(item, most - done)
            if done == most:
                break
        return done + passed_over > 0

    def _begin_row(self, item: Item, most: int) -> int:
        """Begins an event; how many the driver has done itself, which is at most ``most``.

        If it has done this one then also those behind it, which no look has shown: of the messages
        of one edge and time only the first is enabled.
        """
        done = 0
        while self._begin(item):
            done += 1
            behind = self.driver.machine.successor(item) if done < most else None
            if behind is None or not self.tasks.inline(behind) or self._delays(behind):
                break
            item = behind
        return done

    def _begin(self, item: Item) -> bool:
        """Begins an event; whether the driver has done it itself."""
        task = self.tasks.task(self.driver.machine.begin(item))
        if not task.inline:
            self.submit(self._perform, task)
            return False
        try:
            result = task.perform()
        except Exception as error:
            self._raised(task, error)
        else:
            self._finish(task, result)
        return True

    def _delays(self, item: Item) -> bool:
        return self.driver.failures.delays(item)

    def submit(self, function: Callable[..., None], *args: Any) -> None:
        """Runs ``function`` beside; it ends by calling :meth:`returned`."""
        self.busy += 1
        self._pool.submit(function, *args)

    def returned(self, function: Callable[..., None], *args: Any) -> None:
        """What was run beside has ended: has the driver call ``function``."""
        self.driver.tell(self._unbusy, function, *args)

    def _unbusy(self, function: Callable[..., None], *args: Any) -> None:
        self.busy -= 1
        function(*args)

    def _perform(self, task: Task) -> None:
        try:
            result = task.perform()
        except Exception as error:
            self.returned(self._raised, task, error)
        else:
            self.returned(self._finish, task, result)

    def _finish(self, task: Task, result: Result) -> None:
        if any(batch.content.lost for batch in task.context.made()):
            self._raised(task, LostBlocksError("what it did was lost before it counted"))
            return
        try:
            self.driver.step(Finish(task.work, result))
        except DefinitionError as error:
            self._raised(task, error)
        else:
            self.driver.failures.forget(task.work)

    def _raised(self, task: Task, error: Exception) -> None:
        if task.work.number in self.driver.machine.state.running:
            self.driver.failures.raised(task, error)

    def close(self) -> None:
        """Waits for those that run; the others are not begun any more."""
        self._pool.shutdown(cancel_futures=True)
