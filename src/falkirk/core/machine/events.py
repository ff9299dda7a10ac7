"""What the machine is told, and what it asks for in return.

Events come from the driver of the machine: the simulator or the Spark runtime. Effects are carried
out by it. An effect may be carried out late, but effects on the store keep their order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.machine.flow import Batch
from falkirk.core.machine.ledger import Past, Record
from falkirk.core.machine.message import Message
from falkirk.core.machine.stored import Stored
from falkirk.core.times import EdgeId, ProcessorId

# Work: what can be done next, and what came of it.


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
    """An event being processed. ``incarnation`` tells it from work begun before a rollback."""

    number: int
    incarnation: int
    item: Item

    @property
    def processor(self) -> ProcessorId:
        """Who processes it."""
        return self.item.processor

    @property
    def time(self) -> Any:
        """The logical time of the event."""
        return self.item.message.time if isinstance(self.item, Delivery) else self.item.time


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


# Events.


@dataclass(frozen=True, slots=True)
class Ingest:
    """A batch from outside, at the open epoch of an input."""

    processor: ProcessorId
    batch: Batch


@dataclass(frozen=True, slots=True)
class Close:
    """The open epoch of an input is complete; the next one opens."""

    processor: ProcessorId


@dataclass(frozen=True, slots=True)
class End:
    """An input has ended: there will be no further epoch."""

    processor: ProcessorId


@dataclass(frozen=True, slots=True)
class Finish:
    """Work is done."""

    work: Work
    result: Result


@dataclass(frozen=True, slots=True)
class Persisted:
    """What a :class:`Persist` asked for is durable."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """The outside has taken what a :class:`Release` offered."""

    processor: ProcessorId
    time: Any


@dataclass(frozen=True, slots=True)
class Suspect:
    """Processors that may have failed: what goes there or comes from there is held (§4.4)."""

    processors: frozenset[ProcessorId]


@dataclass(frozen=True, slots=True)
class Trust:
    """Suspicion was unfounded."""

    processors: frozenset[ProcessorId]


@dataclass(frozen=True, slots=True)
class Fail:
    """Processors that have failed: all that they held in memory is gone.

    ``stored`` is what the store holds of them.
    """

    processors: frozenset[ProcessorId]
    stored: Mapping[ProcessorId, Stored] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tick:
    """The driver's clock, in seconds: for checkpoints that are due by time."""

    now: float


@dataclass(frozen=True, slots=True)
class Flush:
    """Take the checkpoints that are due by completed times, whatever the intervals say."""


Event = (
    Ingest | Close | End | Finish | Persisted | Delivered | Suspect | Trust | Fail | Tick | Flush
)

# Effects.


@dataclass(frozen=True, slots=True)
class Persist:
    """Make ``records`` and then ``checkpoint`` durable, visible at once or not at all.

    ``previous`` is the frontier of the checkpoint before: a checkpoint counts only with all earlier
    ones. ``capture`` asks for what the processor's own ``checkpoint(frontier)`` gives, at once and
    before it goes on, to be stored with it.
    """

    ticket: int
    processor: ProcessorId
    incarnation: int
    checkpoint: Checkpoint
    previous: Any
    records: tuple[Record, ...] = field(repr=False)
    capture: bool = False


@dataclass(frozen=True, slots=True)
class Retract:
    """Forget, durably and before any later Persist, what lies outside these frontiers.

    One transaction for all; late writes of earlier incarnations must not become visible.
    """

    frontiers: dict[ProcessorId, Any]
    incarnations: dict[ProcessorId, int]


@dataclass(frozen=True, slots=True)
class Collect:
    """Checkpoints of ``processor`` strictly inside ``watermark`` are no longer needed (§4.2).

    The records of ``times`` have nothing left to send, and ``state`` takes their place.
    """

    processor: ProcessorId
    watermark: Any
    times: tuple[Any, ...]
    state: tuple[Batch, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CollectLog:
    """Logged messages on ``edge`` with times in ``reached`` are no longer needed (§4.2)."""

    edge: EdgeId
    reached: Any


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Everything that this input ingested at times in ``frontier`` may be forgotten (§4.3)."""

    processor: ProcessorId
    frontier: Any


@dataclass(frozen=True, slots=True)
class Release:
    """Hand the output of ``time`` to the outside; it will never be contradicted."""

    processor: ProcessorId
    time: Any
    batches: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class Rewind:
    """An input starts again with the first epoch outside ``frontier``."""

    processor: ProcessorId
    frontier: Any


@dataclass(frozen=True, slots=True)
class Restore:
    """Give a processor that keeps its own state what was captured at ``frontier`` back to it."""

    processor: ProcessorId
    frontier: Any


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A recovery happened: where everybody went, and why."""

    failed: frozenset[ProcessorId]
    frontiers: dict[ProcessorId, Any]
    reasons: dict[ProcessorId, Any] = field(repr=False)


Effect = (
    Persist | Retract | Collect | CollectLog | Acknowledge | Release | Rewind | Restore | RolledBack
)
