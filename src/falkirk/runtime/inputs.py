"""Reading sources: one range an epoch, from where the input stands as far as it may go (§4.3)."""

from dataclasses import dataclass, field
from typing import Any

from falkirk.core.times import ProcessorId


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a poll brought: the rows of one epoch and where they end; ``data`` None if nothing."""

    data: Any
    end: Any
    size: int | None
    finished: bool


@dataclass(slots=True)
class Reader:
    """Where one input stands. ``generation`` tells a poll from one that was begun before a rewind.

    ``ends`` has the position after each epoch that is not acknowledged yet.
    """

    name: ProcessorId
    source: Any
    limit: Any
    position: Any = None
    generation: int = 0
    busy: bool = False
    ended: bool = False
    quiet_until: float = 0.0
    failures: int = 0
    ends: dict[int, Any] = field(default_factory=dict)

    def poll(self, session: Any) -> Arrival:
        """Looks how far the source has come and reads that; runs on a thread of its own."""
        start = self.position
        end = self.source.latest(start, self.limit)
        if end == start:
            return Arrival(None, start, None, self.source.finished(start))
        size = getattr(self.source, "size", lambda *_: None)(start, end)
        data = self.source.read(session, start, end)
        return Arrival(data, end, size, self.source.finished(end))

    def rewind(self, position: Any) -> None:
        """Starts again after ``position``; whatever is being read is dropped."""
        self.position = position
        self.generation += 1
        self.busy = self.ended = False
        self.quiet_until = 0.0

    def taken(self, epoch: int, end: Any) -> None:
        """An epoch was read up to ``end``."""
        self.position = self.ends[epoch] = end

    def acknowledged(self, epoch: int) -> Any:
        """The position after the last epoch up to ``epoch``, which need not be kept any more."""
        passed = [e for e in self.ends if e <= epoch]
        position = self.ends[max(passed)] if passed else None
        for e in passed:
            del self.ends[e]
        return position
