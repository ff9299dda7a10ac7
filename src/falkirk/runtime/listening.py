"""Listeners: who is told how a run goes, on a thread of its own, so that nobody waits for them."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from falkirk.core.times import ProcessorId

if TYPE_CHECKING:
    from falkirk.runtime.progress import Progress

log = logging.getLogger("falkirk.listener")

RESTART = "restart"
"""The cause of a recovery in which everything had failed: a run goes on from its store."""

LOST_EXECUTOR = "lost executor"
"""The cause of a recovery after Spark has lost what processors held in memory."""

BY_HAND = "by hand"
"""How the cause of a rollback begins that a person has asked for."""

KINDS = ("restart", "lost-executor", "error", "repair")
"""What sorts of causes there are; "error" is whatever was raised."""


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A checkpoint is durable; it took ``seconds`` and wrote so much."""

    processor: ProcessorId
    frontier: Any
    rows: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RollbackNotice:
    """A recovery: who failed and why, where everybody went, and what constrains whom.

    ``undone`` says how many epochs of each processor are done again, at most.
    """

    number: int
    at: float
    cause: str
    failed: tuple[ProcessorId, ...]
    frontiers: dict[ProcessorId, Any]
    reasons: dict[ProcessorId, Any]
    undone: dict[ProcessorId, int]
    seconds: float

    @property
    def kind(self) -> str:
        """One of ``KINDS``: what sort of cause it had."""
        known = {RESTART: "restart", LOST_EXECUTOR: "lost-executor"}
        return "repair" if self.cause.startswith(BY_HAND) else known.get(self.cause, "error")


@dataclass(frozen=True, slots=True)
class Tidied:
    """The store has let go of what nobody needs: so many collections, in one transaction."""

    collections: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Taken:
    """The outside has taken a time of an output, so long after its epoch was read."""

    processor: ProcessorId
    time: Any
    rows: int
    seconds: float | None


class Listener:
    """Override what you want to hear of; an exception is logged, and the run goes on."""

    def started(self, flow: str) -> None:
        """A run has begun."""

    def progressed(self, progress: "Progress") -> None:
        """How the run stands, a few times a second."""

    def checkpointed(self, checkpoint: Checkpointed) -> None:
        """A checkpoint is durable."""

    def rolled_back(self, rollback: RollbackNotice) -> None:
        """Some processors have gone back."""

    def caught_up(self, rollback: RollbackNotice, seconds: float) -> None:
        """All who went back are where they were before, so long after the failure was noticed."""

    def acknowledged(self, processor: ProcessorId, frontier: Any) -> None:
        """A source need not keep these times any more."""

    def collected(self, processor: ProcessorId, frontier: Any) -> None:
        """What a processor keeps of these times was folded."""

    def tidied(self, tidied: Tidied) -> None:
        """What was collected is out of the store, and files have gone."""

    def taken(self, taken: Taken) -> None:
        """The outside has taken an output."""

    def ended(self, error: Exception | None) -> None:
        """The run is over; ``error`` is what stopped it, if anything did."""


class Listeners:
    """Tells all listeners, in order."""

    def __init__(self, listeners: Iterable[Listener]) -> None:
        """Starts the thread, if there is anyone to tell."""
        self._listeners = list(listeners)
        self._queue: SimpleQueue[tuple[str, tuple[Any, ...]] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="falkirk-listeners", daemon=True)
        if self._listeners:
            self._thread.start()

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def tell(self, what: str, *args: Any) -> None:
        """Has every listener's method ``what`` called."""
        if self._listeners:
            self._queue.put((what, args))

    def close(self) -> None:
        """Returns when all has been told."""
        if self._listeners:
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (told := self._queue.get()) is not None:
            what, args = told
            for listener in self._listeners:
                try:
                    getattr(listener, what)(*args)
                except Exception:
                    log.exception("%s could not be told: %s", type(listener).__name__, what)
