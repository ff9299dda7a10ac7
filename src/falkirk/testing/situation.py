"""What those who decide about a run may look at."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from falkirk.core.machine.events import Pin
from falkirk.core.machine.flow import Flow
from falkirk.core.times import ProcessorId


class Situation(Protocol):
    """A run, as a decider sees it."""

    pin: Pin
    """What is kept so that one could go back there."""

    @property
    def names(self) -> Sequence[ProcessorId]:
        """All processors."""

    @property
    def flow(self) -> Flow:
        """The flow that is run."""

    @property
    def replaying(self) -> list[ProcessorId]:
        """The processors whose history is being run again."""

    @property
    def repeatable(self) -> int:
        """How many acknowledgements could come a second time."""

    @property
    def writes(self) -> Sequence[Any]:
        """What was asked of the store and is not done."""

    def saves(self, p: ProcessorId) -> int:
        """How many checkpoints of ``p`` are durable."""

    def left(self, p: ProcessorId) -> int:
        """How many events of its history ``p`` has still to begin again."""

    def past(self, p: ProcessorId, frontier: Any) -> int:
        """How many events of the history of ``p`` lie inside ``frontier``."""

    def plan(self, failed: Iterable[ProcessorId]) -> Mapping[ProcessorId, Any]:
        """Where everybody would go back to if ``failed`` failed now; nothing is changed."""

    def risen(self) -> bool:
        """Whether a low-watermark of somebody who saves has left what is pinned."""
