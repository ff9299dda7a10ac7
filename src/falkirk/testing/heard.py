"""What a driver hears of while a flow runs, by names that are the same in every run.

Steps have numbers, but which step has which number depends on all that goes on at once. That a
processor has processed a time is the same event whenever it comes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Again,
    Close,
    Delivered,
    Delivery,
    End,
    Event,
    Finish,
    Ingest,
    Persisted,
)
from falkirk.core.times import ProcessorId


class What(Enum):
    """The kinds of what is heard of, each with the words for it."""

    READ = "{processor!r} has read {time}"
    CLOSED = "{processor!r} has closed {time}"
    ENDED = "{processor!r} has come to its end"
    PROCESSED = "{processor!r} has processed {time} from {edge!r}"
    NOTIFIED = "{processor!r} was told that {time} is complete"
    REPEATED = "{processor!r} has processed {time} of its history again"
    SAVED = "{processor!r} has saved {time}"
    TAKEN = "the sink of {processor!r} has taken {time}"


@dataclass(frozen=True, slots=True)
class Heard:
    """One thing that a driver hears of: ``time`` is a frontier where something was saved."""

    what: What
    processor: ProcessorId
    time: Any = None
    edge: str = ""

    def __str__(self) -> str:
        return self.what.value.format(
            processor=str(self.processor), time=self.time, edge=str(self.edge)
        )


def heard(machine: Machine, event: Event) -> list[Heard]:
    """What a driver hears of by an event that it has not yet told its machine.

    Checkpoints that become durable together are heard of together. The clock, and what only a
    failure leads to, are nothing.
    """
    return list(_heard(machine, event))


def _heard(machine: Machine, event: Event) -> Iterator[Heard]:
    match event:
        case Ingest():
            yield Heard(What.READ, event.processor, _open(machine, event.processor))
        case Close():
            yield Heard(What.CLOSED, event.processor, _open(machine, event.processor))
        case End():
            yield Heard(What.ENDED, event.processor)
        case Delivered():
            yield Heard(What.TAKEN, event.processor, event.time)
        case Persisted():
            for number in event.tickets:
                if ticket := machine.state.tickets.get(number):  # else a rollback has undone it
                    saved = ticket.effect
                    yield Heard(What.SAVED, saved.processor, saved.checkpoint.frontier)
        case Finish():
            yield _finished(event)


def _open(machine: Machine, p: ProcessorId) -> Any:
    """The open epoch of an input."""
    return (machine.state.standing[p].epoch,)


def _finished(event: Finish) -> Heard:
    item, p, time = event.work.item, event.work.processor, event.work.time
    if isinstance(item, Delivery):
        return Heard(What.PROCESSED, p, time, item.message.edge)
    return Heard(What.REPEATED if isinstance(item, Again) else What.NOTIFIED, p, time)
