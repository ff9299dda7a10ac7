"""One record for each time of a processor: what the events at that time did."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from falkirk.core.machine.flow import Batch
from falkirk.core.machine.message import Message
from falkirk.core.times import EdgeId


class Sent(NamedTuple):
    """What identifies a message: enough to make it again from its content."""

    number: int
    edge: EdgeId
    time: Any


@dataclass(frozen=True, slots=True)
class Past:
    """An event of a logged history, and the messages that it sent, without their contents.

    ``number`` says which of two events came first; a notification has no edge.
    """

    number: int
    edge: EdgeId | None
    batch: Batch
    sent: tuple[Sent, ...]


@dataclass(slots=True)
class Record:
    """What the events at one time did.

    ``delivered`` has each event, in order, where the history is logged. ``state`` is replaced and
    never changed in place: whoever works beside the machine goes on seeing what it was.
    """

    time: Any
    delivered: list[Past] = field(default_factory=list)
    processed: set[EdgeId] = field(default_factory=set)
    notified: bool = False
    state: Sequence[Batch] = field(default_factory=list)
    sent: list[Message] = field(default_factory=list)
    discarded: dict[EdgeId, set[Any]] = field(default_factory=dict)
    requests: set[Any] = field(default_factory=set)
    first: dict[EdgeId, int] = field(default_factory=dict)
    closed: dict[EdgeId, int] = field(default_factory=dict)
    durable: bool = False

    def copy(self) -> "Record":
        """An independent copy, as a store would hold."""
        return Record(
            self.time,
            list(self.delivered),
            set(self.processed),
            self.notified,
            list(self.state),
            list(self.sent),
            {edge: set(times) for edge, times in self.discarded.items()},
            set(self.requests),
            dict(self.first),
            dict(self.closed),
            self.durable,
        )


@dataclass(slots=True)
class Base:
    """What is folded below the low-watermark: nobody will ask for a part of it again.

    ``state`` keeps its times, for an event sees what lies before it and not all that is folded.
    """

    frontier: Any
    processed: dict[EdgeId, Any]
    notified: Any
    discarded: dict[EdgeId, Any]
    state: list[tuple[Any, Batch]] = field(default_factory=list)
    requests: set[Any] = field(default_factory=set)
    closed: dict[EdgeId, int] = field(default_factory=dict)

    def copy(self) -> "Base":
        """An independent copy, as a store would hand out."""
        return Base(
            self.frontier,
            dict(self.processed),
            self.notified,
            dict(self.discarded),
            list(self.state),
            set(self.requests),
            dict(self.closed),
        )
