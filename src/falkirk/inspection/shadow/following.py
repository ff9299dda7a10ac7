"""Sources of a shadow: they read what the live flow reads, cut where it cut, and say nothing back.

An epoch of the shadow has the rows of the same epoch of the live flow. Where the live flow's inputs
had none, or it is not known any more which, an epoch is closed without rows.
"""

import threading
import time
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Close
from falkirk.core.times import ProcessorId
from falkirk.dataflow.connecting import Limit
from falkirk.inspection.look import look, opened
from falkirk.inspection.shadow.ends import End, closed_up_to, known_ends, read_ends, write_ends
from falkirk.inspection.shadow.facts import Shadow, identity_in
from falkirk.store.database import Database
from falkirk.store.ends import ends_in

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver

PAUSE_SECONDS = 0.25
SHARE = 10
"""A look at the live store is followed by a pause of so many times as long as it took."""


class Trail:
    """The ends of the live flow's epochs, looked up while it goes on. Safe for several threads."""

    def __init__(
        self,
        shadow: Shadow,
        inputs: list[ProcessorId],
        database: Database,
        live: str | None = None,
    ) -> None:
        """Knows what was remembered; ``database`` is the shadow's own, ``live`` the way there."""
        self.shadow, self.database, self.live = shadow, database, live or shadow.live
        with database.reading() as connection:
            self.ends = {p: {e.epoch: e for e in read_ends(connection, p)} for p in inputs}
        self.closed = {p: max([shadow.kept.get(p, -1), *self.ends[p]]) for p in inputs}
        self.running = True
        self.looks = 0
        self.wait = pause
        self._next = 0.0
        self._lock = threading.Lock()

    def look(self) -> None:
        """Looks at the live store, unless somebody did so a moment ago."""
        with self._lock:
            began = time.monotonic()
            if began < self._next:
                return
            with opened(self.live) as store:
                if identity_in(store) != self.shadow.identity:
                    raise StoreError(
                        f"the store at {self.shadow.live} is not the one that this is a shadow of:"
                        " it was replaced; drop this shadow and make a new one"
                    )
                seen = look(store)
                with store.database.reading() as connection:
                    kept = ends_in(connection)
            fresh: dict[ProcessorId, list[End]] = {}
            for p, closed in self.closed.items():
                self._refuse_other(p, known_ends(seen, kept, p, -1), closed_up_to(seen, p))
                fresh[p] = known_ends(seen, kept, p, closed)
                self.closed[p] = max(closed, closed_up_to(seen, p))
            if any(fresh.values()):
                with self.database.writing() as connection:
                    for p, ends in fresh.items():
                        write_ends(connection, p, ends)
            for p, ends in fresh.items():
                self.ends[p] |= {end.epoch: end for end in ends}
            self.running = seen.holder.state in ("live", "expired")
            self.looks += 1
            now = time.monotonic()
            self._next = now + self.wait(now - began)

    def _refuse_other(self, p: ProcessorId, ends: list[End], closed: int) -> None:
        """A live flow that somebody has put back reads other epochs than were followed."""
        mine = self.ends[p]
        cut = [e for e in ends if e.epoch in mine and mine[e.epoch].position != e.position]
        if cut or closed < self.closed[p]:
            raise StoreError(
                f"the live flow at {self.shadow.live} was rolled back, so the epochs of its input"
                f" {p!r} are not those that this shadow has followed: drop it and make a new one"
            )

    def following(self, p: ProcessorId, epoch: int) -> End | None:
        """The next end from ``epoch`` on, if it is known."""
        later = [known for known in self.ends[p] if known >= epoch]
        return self.ends[p][min(later)] if later else None

    def is_level(self, p: ProcessorId, epoch: int) -> bool:
        """Whether an input whose next epoch is ``epoch`` has all that the live flow has."""
        return self.following(p, epoch) is None and epoch > self.closed[p]


def pause(seconds: float) -> float:
    """How long nobody looks after a look that took so many ``seconds``."""
    return max(PAUSE_SECONDS, SHARE * seconds)


class Followed:
    """A source that is read where the live flow has read it; nothing is ever acknowledged."""

    replayable = True

    def __init__(self, name: ProcessorId, source: Any, trail: Trail) -> None:
        """Reads ``source`` for the input ``name`` along ``trail``."""
        self.name, self.source, self.trail = name, source, trail
        self.driver: Driver | None = None

    def initial(self) -> Any:
        """Before the first row."""
        return self.source.initial()

    def latest(self, start: Any, limit: Limit) -> Any:
        """Where the epoch that comes next ended in the live flow; ``start`` until that is known."""
        driver, trail, p = self.driver, self.trail, self.name
        assert driver is not None, "a shadow's sources are bound before it runs"
        epoch = driver.machine.state.standing[p].epoch
        if epoch is None:
            return start
        if trail.is_level(p, epoch):
            trail.look()
        end = trail.following(p, epoch)
        if end is not None and end.epoch == epoch:
            return end.position
        up_to = end.epoch - 1 if end is not None else trail.closed[p]
        if up_to >= epoch:
            driver.tell(self._close, epoch, up_to)
        return start

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The rows between two positions."""
        return self.source.read(session, start, end)

    def size(self, start: Any, end: Any) -> int | None:
        """About how many bytes there are, where the source can tell."""
        hook = getattr(self.source, "size", None)
        return hook(start, end) if hook else None

    def finished(self, position: Any) -> bool:
        """A shadow is stopped; by itself it ends no input, for the live flow may go on."""
        return False

    def commit(self, end: Any) -> None:
        """What the live flow's source may forget is the live flow's business."""

    def close(self) -> None:
        """The run has ended."""
        if hook := getattr(self.source, "close", None):
            hook()

    def _close(self, epoch: int, up_to: int) -> None:
        """Closes epochs without rows, on the driver's thread, if it still stands at ``epoch``."""
        assert self.driver is not None
        standing = self.driver.machine.state.standing[self.name]
        if standing.epoch == epoch:
            for _ in range(epoch, up_to + 1):
                self.driver.step(Close(self.name))


class Apart:
    """A source that only the changed flow reads: its epochs are its own."""

    def __init__(self, source: Any) -> None:
        """Reads ``source``."""
        self.source = source

    def __getattr__(self, name: str) -> Any:
        """Everything else is the source's."""
        return getattr(self.source, name)

    def commit(self, end: Any) -> None:
        """A shadow may be dropped, so nothing may be forgotten on its account."""
