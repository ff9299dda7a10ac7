"""The channels that hold messages until they are delivered (§3.3)."""

from collections.abc import Callable, Mapping

from falkirk.core.machine.message import Message, deliverable
from falkirk.core.machine.work import Delivery
from falkirk.core.times import EdgeId, ProcessorId


class Channels:
    """The undelivered messages of every edge. A queue belongs to the receiver of its edge."""

    def __init__(self, receivers: Mapping[EdgeId, ProcessorId]) -> None:
        """Empty channels."""
        self.receivers = receivers
        self.queues: dict[EdgeId, list[Message]] = {edge: [] for edge in receivers}
        self._deliveries: dict[EdgeId, list[Delivery]] = {}

    def deliveries(self, edge: EdgeId) -> list[Delivery]:
        """What may be delivered next, which changes only when the queue does."""
        found = self._deliveries.get(edge)
        if found is None:
            p = self.receivers[edge]
            found = [Delivery(p, message) for message in deliverable(self.queues[edge])]
            self._deliveries[edge] = found
        return found

    def put(self, message: Message) -> None:
        """Appends a message."""
        self._deliveries.pop(message.edge, None)
        self.queues[message.edge].append(message)

    def take(self, message: Message) -> None:
        """Removes a message for delivery."""
        self._deliveries.pop(message.edge, None)
        self.queues[message.edge].remove(message)

    def put_back(self, message: Message) -> None:
        """Undoes :meth:`take`: the message stands again where it was sent."""
        self.put(message)
        self.queues[message.edge].sort(key=lambda m: m.number)

    def keep(self, edge: EdgeId, wanted: Callable[[Message], bool]) -> None:
        """Drops what is not ``wanted``."""
        self._fill(edge, [message for message in self.queues[edge] if wanted(message)])

    def clear(self, edge: EdgeId) -> None:
        """Drops everything."""
        self._fill(edge, [])

    def restore(self, edge: EdgeId, messages: list[Message]) -> None:
        """Puts logged messages back, in the order in which they were sent first."""
        queued = {message.number for message in self.queues[edge]}
        merged = self.queues[edge] + [m for m in messages if m.number not in queued]
        self._fill(edge, sorted(merged, key=lambda m: m.number))

    def _fill(self, edge: EdgeId, messages: list[Message]) -> None:
        self._deliveries.pop(edge, None)
        self.queues[edge] = messages
