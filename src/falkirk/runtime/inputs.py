"""Reading sources: one range an epoch, from where the input stands as far as it may go (§4.3)."""

import time
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.times import ProcessorId
from falkirk.runtime.admission import Admission
from falkirk.runtime.looking import Looking

NEVER = float("inf")
"""Until when a source is left alone that says itself when there is something."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a poll brought: the rows of one epoch and where they end; ``data`` None if nothing.

    ``began`` is when the source was asked, and ``admitted`` how much it was then asked for. After
    nothing it is asked again ``at`` some time.
    """

    data: Any
    end: Any
    size: int | None
    finished: bool
    began: float = 0.0
    admitted: int = 0
    at: float = 0.0


@dataclass(slots=True)
class Reader:
    """Where one input stands. ``generation`` tells a poll from one that was begun before a rewind.

    ``ends`` has the position after each epoch that is not acknowledged yet, ``unsettled`` after
    each that the sinks do not have yet, where the source wants to know. ``woken`` notes that the
    source has called since it was last polled.
    """

    name: ProcessorId
    source: Any
    admission: Admission
    position: Any = None
    generation: int = 0
    busy: bool = False
    ended: bool = False
    quiet_until: float = 0.0
    failures: int = 0
    listening: bool = False
    woken: bool = False
    hastened: Any = None
    ends: dict[int, Any] = field(default_factory=dict)
    unsettled: dict[int, Any] = field(default_factory=dict)

    def hook(self, name: str) -> Any:
        """What the source has under ``name``, of all that it need not have; None if it has not."""
        return getattr(self.source, name, None)

    def poll(self, session: Any, looking: Looking, often: bool = False) -> Arrival:
        """Looks how far the source has come and reads that; runs on a thread of its own.

        Where it may look ``often`` it does so before it says that there is nothing.
        """
        start, admitted, limit = self.position, self.admission.size, self.admission.limit
        until = time.monotonic() + looking.seconds_max if often and not self.listening else 0.0
        while True:
            began = time.monotonic()
            end = self.source.latest(start, limit)
            if end != start:
                break
            finished, now = self.source.finished(start), time.monotonic()
            pause = looking.pause(now - began) if until else looking.seconds_max
            if finished or now + pause >= until or looking.closing.wait(pause):
                return Arrival(None, start, None, finished, at=now + pause)
        size = size_of(start, end) if (size_of := self.hook("size")) else None
        data = self.source.read(session, start, end)
        return Arrival(data, end, size, self.source.finished(end), began, admitted)

    def rewind(self, position: Any, epoch: int | None = None) -> None:
        """Starts again after ``position`` with ``epoch``; whatever is being read is dropped."""
        self.position = position
        self.generation += 1
        self.busy = self.ended = False
        self.quiet_until = 0.0
        self.hastened = None
        self.admission.measured.clear()
        self.unsettled = {
            e: end for e, end in self.unsettled.items() if epoch is not None and e < epoch
        }

    def awake(self) -> None:
        """The source says that there may be something new."""
        self.woken, self.quiet_until = True, 0.0

    def rest(self, until: float) -> None:
        """There was nothing: asks again at ``until``, or when the source calls."""
        if self.listening:
            until = 0.0 if self.woken else NEVER
        self.quiet_until = until

    def taken(self, epoch: int, arrival: Arrival) -> None:
        """An epoch was read: what ``arrival`` has."""
        self.position = self.ends[epoch] = arrival.end
        self.admission.taken(epoch, arrival.began, arrival.admitted)
        if self.hook("settled"):
            self.unsettled[epoch] = arrival.end
        seconds = self.admission.limit.seconds
        self.quiet_until = arrival.began + seconds if seconds else 0.0

    def acknowledged(self, epoch: int) -> Any:
        """The position after the last epoch up to ``epoch``, which need not be kept any more."""
        return passed(self.ends, epoch)

    def settled(self, epoch: int) -> Any:
        """The position after the last epoch up to ``epoch`` that the sinks have just got."""
        return passed(self.unsettled, epoch)


def passed(ends: dict[int, Any], epoch: int) -> Any:
    """The position after the last epoch up to ``epoch``, all of which are dropped; or None."""
    gone = [e for e in ends if e <= epoch]
    position = ends[max(gone)] if gone else None
    for e in gone:
        del ends[e]
    return position
