"""The desk between HTTP and the flow: takes requests in, hands them out, matches answers.

Everything is in memory and nothing is ever stored. Requests stay here until the flow acknowledges
them, so that a rollback in this process reads the same rows again, in the same epochs. With the
process they are gone, and so are the connections of those who wait: they retry (§1).
"""

import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from threading import Lock
from uuid import uuid4

from falkirk.connectors.http.memory import Memory
from falkirk.connectors.http.ticket import SEPARATOR, Outcome, Rows, Ticket

FULL = Outcome(429, problem="too many requests wait already: retry later", retry_seconds=1)
CLOSED = Outcome(503, problem="the service is stopping: retry, with the same key", retry_seconds=5)
REUSED = Outcome(
    422, problem="this Idempotency-Key was used for another body: take a new key for a new request"
)


class Refused(Exception):
    """A request that is not taken in; ``outcome`` says why."""

    def __init__(self, outcome: Outcome) -> None:
        """Refused with ``outcome``."""
        super().__init__(outcome.problem)
        self.outcome = outcome


class Desk:
    """Requests that wait, that are in the flow, and that were answered lately. Thread-safe.

    At most ``waiting_max`` requests with together ``bytes_max`` bytes wait to be read. ``wake`` is
    called when there is one. With ``at_once`` an answer goes out as soon as it is there.
    """

    def __init__(
        self,
        waiting_max: int,
        bytes_max: int,
        remember_seconds: float,
        remember_max: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A desk that is closed."""
        self.waiting_max, self.bytes_max, self.clock = waiting_max, bytes_max, clock
        self.at_once = False
        self.open = False
        self.wake: Callable[[], None] = lambda: None
        self.memory = Memory(remember_seconds, remember_max, clock)
        self._lock = Lock()
        self._waiting: deque[tuple[float, Ticket]] = deque()
        self._waiting_bytes = 0
        self._taken: dict[int, Ticket] = {}
        self._ends: list[int] = []
        self._by_id: dict[str, Ticket] = {}
        self._left: dict[str, tuple[float, Ticket]] = {}
        self._last = 0
        self._life = uuid4().hex[:12]
        self._count = 0

    # Clients.

    def hand_in(
        self, key: str | None, rows: Rows, size: int, digest: bytes, told: Callable[[Outcome], None]
    ) -> Ticket:
        """Takes a request in, or joins the one with the same key; ``told`` is called at its end.

        Raises :class:`Refused` if there is no room, or no desk any more.
        """
        with self._lock:
            self._sweep()
            found = self.memory.find(key) if key is not None else None
            if found is not None:
                return self._join(found, digest, told)
            if not self.open:
                raise Refused(CLOSED)
            too_long = self._waiting and self._waiting_bytes + size > self.bytes_max
            if len(self._waiting) >= self.waiting_max or too_long:
                raise Refused(FULL)
            self._count += 1
            name = f"{self._life}-{self._count}"
            known_as = name if key is None else key
            ticket = Ticket(name, known_as, rows, size, digest, keyed=key is not None)
            ticket.waiters.append(told)
            self._waiting.append((self.clock(), ticket))
            self._waiting_bytes += size
            self._by_id[ticket.id] = ticket
            self.memory.begin(ticket)
        self.wake()
        return ticket

    def leave(self, ticket: Ticket, told: Callable[[Outcome], None]) -> None:
        """A client waits no longer. If nobody does, and it was not read yet, the request goes."""
        with self._lock:
            if told in ticket.waiters:
                ticket.waiters.remove(told)
            if ticket.waiters or ticket.outcome is not None:
                return
            if ticket.number:
                self._left[ticket.id] = (self.clock() + self.memory.seconds, ticket)
            else:
                self._waiting = deque(each for each in self._waiting if each[1] is not ticket)
                self._waiting_bytes -= ticket.size
                self._drop(ticket)

    def _join(self, ticket: Ticket, digest: bytes, told: Callable[[Outcome], None]) -> Ticket:
        if ticket.digest != digest:
            raise Refused(REUSED)
        if ticket.outcome is not None:
            told(ticket.outcome)
        else:
            ticket.waiters.append(told)
        return ticket

    def _sweep(self) -> None:
        """Forgets the requests that everybody has left and that the flow needs no more."""
        for name, (until, ticket) in list(self._left.items()):
            if until > self.clock():
                return
            del self._left[name]
            if not ticket.waiters and ticket.number not in self._taken:
                self._drop(ticket)

    def _drop(self, ticket: Ticket) -> None:
        self._by_id.pop(ticket.id, None)
        self.memory.drop(ticket)

    # The flow.

    def oldest_seconds(self) -> float | None:
        """How long the first request that was not read yet has waited; None if there is none."""
        with self._lock:
            return self.clock() - self._waiting[0][0] if self._waiting else None

    def take(self, start: int, rows_max: int | None, bytes_max: int | None) -> int:
        """The position after the next epoch, which begins at ``start``.

        What was read before and rolled back is read again first, as it was divided before.
        """
        with self._lock:
            before = bisect_right(self._ends, start)
            if before < len(self._ends):
                return self._ends[before]
            end = self._last = max(self._last, start)
            rows = size = 0
            while self._waiting:
                ticket = self._waiting[0][1]
                rows, size = rows + len(ticket.rows), size + ticket.size
                too_many = rows_max is not None and rows > rows_max
                too_long = bytes_max is not None and size > bytes_max
                if end > self._last and (too_many or too_long):
                    break
                self._waiting.popleft()
                self._waiting_bytes -= ticket.size
                end += 1
                ticket.number = end
                self._taken[end] = ticket
            if end > self._last:
                self._last = end
                self._ends.append(end)
            return end

    def read(self, start: int, end: int) -> list[tuple[Ticket, str]]:
        """The requests of a range, and what they are called this time they are read.

        After a rollback an at-least-once sink may hold rows of both times. By the names it knows
        which of them are repetitions. Requests that this process does not know are no rows.
        """
        with self._lock:
            found = [ticket for n, ticket in self._taken.items() if start < n <= end]
            for ticket in found:
                ticket.attempt += 1
            return [(ticket, ticket.name) for ticket in found]

    def read_all(self, position: int) -> bool:
        """Whether the desk is closed and everything that was taken in lies before ``position``."""
        with self._lock:
            return not self.open and position >= self._last

    def answer(self, found: dict[str, Rows]) -> None:
        """The flow has made rows of requests; those of a later attempt count, while they can."""
        with self._lock:
            for name, rows in found.items():
                identity, _, attempt = name.rpartition(SEPARATOR)
                ticket = self._by_id.get(identity)
                if ticket is not None and attempt.isdecimal() and int(attempt) >= ticket.answered:
                    ticket.answer, ticket.answered = rows, int(attempt)
            for name in found:
                ticket = self._by_id.get(name.rpartition(SEPARATOR)[0])
                if ticket is not None:
                    self._end(ticket)

    def settle(self, end: int) -> None:
        """All that was made of the requests before ``end`` has been handed over."""
        with self._lock:
            for ticket in list(self._by_id.values()):
                if 0 < ticket.number <= end:
                    ticket.settled = True
                    self._end(ticket)

    def commit(self, end: int) -> None:
        """The requests before ``end`` will not be asked for again: what they caused is durable."""
        with self._lock:
            for number in [n for n in self._taken if n <= end]:
                ticket = self._taken.pop(number)
                ticket.rows = []
                ticket.acknowledged = True
                self._end(ticket)
            self._ends = self._ends[bisect_right(self._ends, end) :]

    @property
    def awaited(self) -> bool:
        """Whether a request waits for nothing but its acknowledgement."""
        with self._lock:
            return not self.at_once and any(not t.acknowledged for t in self._by_id.values())

    def _end(self, ticket: Ticket) -> None:
        outcome = ticket.ended(self.at_once)
        if outcome is not None and ticket.outcome is None:
            self._by_id.pop(ticket.id, None)
            self.memory.finish(ticket)
            ticket.tell(outcome)

    # A run.

    def begin(self, wake: Callable[[], None]) -> None:
        """Takes requests in from now on."""
        with self._lock:
            self.wake, self.open = wake, True

    def stop(self) -> None:
        """Takes no more requests in, and turns away those that were not read."""
        with self._lock:
            self.open = False
            for _, ticket in self._waiting:
                self._drop(ticket)
                ticket.tell(CLOSED)
            self._waiting.clear()
            self._waiting_bytes = 0
        self.wake()

    def close(self) -> None:
        """The run has ended: whoever still waits is told to retry, and all is forgotten."""
        self.stop()
        with self._lock:
            for ticket in list(self._by_id.values()):
                self._drop(ticket)
                ticket.tell(CLOSED)
            self._taken.clear()
            self._left.clear()
            self._ends = []
            self._last = 0
            self.wake = lambda: None
