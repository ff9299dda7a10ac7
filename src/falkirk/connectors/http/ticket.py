"""One request on its way through the flow, and how it ends."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a client gets: an HTTP status, and rows or, where something is wrong, what and why."""

    status: int
    rows: Rows | None = None
    problem: str = ""
    place: str = ""
    retry_seconds: int | None = None


SEPARATOR = "."
"""Between a request's id and the attempt."""

NO_ANSWER = Outcome(204)
"""The request has flowed through, and no answer was made of it."""


@dataclass(slots=True, eq=False)
class Ticket:
    """A request: its rows, and who waits for it. It is ``keyed`` if the client gave its key.

    ``number`` is its position in the source once it is read, ``attempt`` how often it was read, and
    ``answered`` of which attempt the ``answer`` is: the rows that the flow made of it.
    ``acknowledged`` says that all that had to be durable is, ``settled`` that whatever
    the flow made of the request has been handed over.
    """

    id: str
    key: str
    rows: Rows
    size: int
    digest: bytes
    keyed: bool = True
    number: int = 0
    attempt: int = 0
    answered: int = 0
    answer: Rows | None = None
    acknowledged: bool = False
    settled: bool = False
    outcome: Outcome | None = None
    waiters: list[Callable[[Outcome], None]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What its rows are called in the flow, this time."""
        return f"{self.id}{SEPARATOR}{self.attempt}"

    def ended(self, at_once: bool) -> Outcome | None:
        """How the request ends, or None if it is too early to say.

        An answer may go out when its time is over and everything durable, or ``at_once``. That
        there is none is known when the flow has handed over all that it made of the request.
        """
        if not (at_once or self.acknowledged):
            return None
        if self.answer is not None:
            return Outcome(200, self.answer)
        return NO_ANSWER if self.settled else None

    def tell(self, outcome: Outcome) -> None:
        """Tells everybody who waits, once."""
        self.outcome = outcome
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            waiter(outcome)
