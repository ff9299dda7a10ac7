"""Work: what can be done next, and what came of it."""

from dataclasses import dataclass, field
from typing import Any

from falkirk.core.machine.flow import Batch
from falkirk.core.machine.message import Message
from falkirk.core.machine.record import Past
from falkirk.core.times import EdgeId, ProcessorId


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that may be delivered now."""

    processor: ProcessorId
    message: Message


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification that may be delivered now: ``time`` is complete at ``processor``."""

    processor: ProcessorId
    time: Any


@dataclass(frozen=True, slots=True)
class Again:
    """An event of a logged history, to be processed again (§4.1)."""

    processor: ProcessorId
    time: Any
    past: Past


Item = Delivery | Notification | Again


@dataclass(frozen=True, slots=True)
class Work:
    """An event being processed. ``incarnation`` tells it from work begun before a rollback.

    ``processor`` and ``time`` are those of the event.
    """

    number: int
    incarnation: int
    item: Item
    processor: ProcessorId = field(init=False, compare=False, repr=False)
    time: Any = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Looks at the item once."""
        item = self.item
        object.__setattr__(self, "processor", item.processor)
        time = item.message.time if isinstance(item, Delivery) else item.time
        object.__setattr__(self, "time", time)


@dataclass(frozen=True, slots=True)
class Result:
    """What processing one event did.

    ``sends`` are (edge, time, batch); towards sequence numbers the time is None. ``requests`` are
    times to be notified at. ``state`` replaces the processor's state at the time of the event; None
    leaves it. ``closes`` are (edge, epoch): from sequence numbers to epochs, nothing more will be
    sent at that epoch or before.
    """

    sends: tuple[tuple[EdgeId, Any, Batch], ...] = ()
    requests: tuple[Any, ...] = ()
    state: tuple[Batch, ...] | None = None
    closes: tuple[tuple[EdgeId, int], ...] = ()
