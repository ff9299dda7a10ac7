"""What was asked under which key: a retry joins the first attempt, or gets the same answer."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from falkirk.connectors.http.ticket import Ticket


@dataclass(slots=True)
class Memory:
    """Tickets by the keys of clients: all that are on their way, and those that ended lately.

    A finished one is forgotten after ``seconds``, or when more than ``most`` are remembered.
    """

    seconds: float
    most: int
    clock: Callable[[], float]
    going: dict[str, Ticket] = field(default_factory=dict)
    done: "OrderedDict[str, tuple[float, Ticket]]" = field(default_factory=OrderedDict)

    def find(self, key: str) -> Ticket | None:
        """The ticket of ``key``, if it is remembered."""
        self._forget()
        if key in self.going:
            return self.going[key]
        return self.done[key][1] if key in self.done else None

    def begin(self, ticket: Ticket) -> None:
        """A request is on its way."""
        if ticket.keyed:
            self.going[ticket.key] = ticket

    def drop(self, ticket: Ticket) -> None:
        """A request was turned away: nothing came of it."""
        if self.going.get(ticket.key) is ticket:
            del self.going[ticket.key]

    def finish(self, ticket: Ticket) -> None:
        """A request has its answer."""
        self.drop(ticket)
        if ticket.keyed:
            self.done[ticket.key] = (self.clock() + self.seconds, ticket)
            self._forget()

    def _forget(self) -> None:
        now = self.clock()
        while self.done:
            key, (until, _) = next(iter(self.done.items()))
            if until > now and len(self.done) <= self.most:
                return
            del self.done[key]
