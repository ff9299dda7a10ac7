"""What the machine is told, and what it asks for in return.

Events come from the driver of the machine: the simulator or the Spark runtime. Effects are carried
out by it. An effect may be carried out late, but effects on the store keep their order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.machine.flow import Batch
from falkirk.core.machine.record import Record
from falkirk.core.machine.stored import Stored
from falkirk.core.machine.work import Again, Delivery, Item, Notification, Result, Work
from falkirk.core.times import EdgeId, ProcessorId

__all__ = [
    "Acknowledge",
    "Again",
    "Close",
    "Collect",
    "CollectLog",
    "Compacted",
    "Delivered",
    "Delivery",
    "Effect",
    "End",
    "Event",
    "Fail",
    "Finish",
    "Flush",
    "GoBack",
    "Ingest",
    "Item",
    "Notification",
    "Persist",
    "Persisted",
    "Pin",
    "PutBack",
    "Release",
    "Restore",
    "Result",
    "Retract",
    "Rewind",
    "RolledBack",
    "Suspect",
    "Tick",
    "Trust",
    "Work",
]

# Events.


@dataclass(frozen=True, slots=True)
class Ingest:
    """A batch from outside, at the open epoch of an input.

    ``position`` says where in the source it ends, as a value that can be written as JSON. The
    newest one of an epoch becomes durable with the epoch.
    """

    processor: ProcessorId
    batch: Batch
    position: Any = None


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
class PutBack:
    """Work was not done and nothing came of it: its item is to be begun again later."""

    work: Work


@dataclass(frozen=True, slots=True, init=False)
class Persisted:
    """What each :class:`Persist` with one of these tickets asked for is durable.

    They are told together if they became so together: then there is one look at what that allows.
    """

    tickets: tuple[int, ...]

    def __init__(self, *tickets: int) -> None:
        """Of one, or of several."""
        object.__setattr__(self, "tickets", tickets)


@dataclass(frozen=True, slots=True)
class Delivered:
    """The outside has taken what a :class:`Release` offered."""

    processor: ProcessorId
    time: Any
    incarnation: int | None = None


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
class Pin:
    """From now on nothing outside ``kept`` is collected or acknowledged, nothing outside ``shown``
    released.

    Both bound low-watermarks, for the processors that they name, in the place of earlier bounds.
    """

    kept: Mapping[ProcessorId, Any]
    shown: Mapping[ProcessorId, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoBack:
    """A person takes processors back: nothing has failed, but each keeps no more than its bound.

    Nobody goes below ``promised``; if somebody had to, all is left as it is. The outputs in
    ``undone`` can take back what they have shown.
    """

    bounds: Mapping[ProcessorId, Any]
    promised: Mapping[ProcessorId, Any] = field(default_factory=dict)
    undone: frozenset[ProcessorId] = frozenset()


@dataclass(frozen=True, slots=True)
class Tick:
    """The driver's clock, in seconds: for checkpoints that are due by time."""

    now: float


@dataclass(frozen=True, slots=True)
class Flush:
    """Take the checkpoints that are due by completed times, whatever the intervals say."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """Entries of folded state, ``taken``, were made into fewer ones, ``put``, of the same meaning.

    Both are (time, batch). Entries are recognised by their batches; if one is no longer there,
    nothing happens.
    """

    processor: ProcessorId
    taken: tuple[tuple[Any, Batch], ...] = field(repr=False)
    put: tuple[tuple[Any, Batch], ...] = field(repr=False)


Event = (
    Ingest
    | Close
    | End
    | Finish
    | PutBack
    | Persisted
    | Delivered
    | Suspect
    | Trust
    | Fail
    | Pin
    | GoBack
    | Tick
    | Flush
    | Compacted
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

    ``incarnations`` has everybody who goes back, also those who keep nothing.
    One transaction for all; late writes of earlier incarnations must not become visible. A ``note``
    of the driver's becomes durable in the same one.
    """

    frontiers: dict[ProcessorId, Any]
    incarnations: dict[ProcessorId, int]
    note: Any = None


@dataclass(frozen=True, slots=True)
class Collect:
    """Checkpoints of ``processor`` strictly inside ``watermark`` are no longer needed (§4.2).

    The records of ``times`` have nothing left to send: ``state``, as (time, batch), is all that is
    left of them and of those that were collected before.
    """

    processor: ProcessorId
    watermark: Any
    times: tuple[Any, ...]
    state: tuple[tuple[Any, Batch], ...] = field(repr=False)


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
    """Hand the output of ``time`` to the outside; it will never be contradicted.

    With an ``incarnation`` it is of an at-least-once output, which may show it again.
    """

    processor: ProcessorId
    time: Any
    batches: tuple[Batch, ...]
    incarnation: int | None = None

    @property
    def taken(self) -> Delivered:
        """What there is to tell when the outside has taken it."""
        return Delivered(self.processor, self.time, self.incarnation)


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
