"""Handing staged outputs to sinks: in order of their times for each sink, and again until taken."""

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any

from falkirk.core.machine.events import Release
from falkirk.core.times import ProcessorId
from falkirk.runtime.blocks import is_loss
from falkirk.runtime.content import Content
from falkirk.runtime.described import described
from falkirk.runtime.insisting import Insisting
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.offering import offer
from falkirk.runtime.patience import OUTSIDE, Patience


class Outputs:
    """One thread a sink. ``taken(release)`` and ``broken(error)`` are called on it.

    ``missed(release)`` is called when the rows of a release are gone. Its processor will fail then,
    and offer the time again; later times wait for it. An output that has failed offers all times
    again of which it does not know that they were taken; those that are under way need not go
    twice, for they are the same.
    """

    def __init__(
        self,
        sinks: dict[ProcessorId, Any],
        materialiser: Materialiser,
        taken: Callable[[Release], None],
        broken: Callable[[Exception], None],
        missed: Callable[[Release], None],
        patience: Patience = OUTSIDE,
        store: str = "",
    ) -> None:
        """Sinks by the names of their processors; ``store`` is the identity of the store."""
        self.sinks, self.materialiser, self.store = sinks, materialiser, store
        self._taken, self._broken, self._missed = taken, broken, missed
        self._closing = Event()
        self._insisting = Insisting(patience, self._closing)
        self._threads = {p: ThreadPoolExecutor(1, f"falkirk-sink-{p}") for p in sinks}
        self._lock, self._waiting = Lock(), 0
        self._under_way: dict[tuple[ProcessorId, Any], Release] = {}
        # Times whose rows are gone, and what waits for them; each is its sink's thread's own.
        self._gone: dict[ProcessorId, set[Any]] = {p: set() for p in sinks}
        self._held: dict[ProcessorId, list[Release]] = {p: [] for p in sinks}
        self._unusable: set[ProcessorId] = set()
        for p, sink in sinks.items():
            if hasattr(sink, "attach"):
                self._submit(p, self._attach)

    @property
    def waiting(self) -> int:
        """How many releases the outside has not taken yet."""
        return self._waiting

    # What the driver calls.

    def unsettled(self, names: Collection[ProcessorId]) -> bool:
        """Whether the driver has not heard yet that all times of some outputs were taken."""
        return any(p in names for p, _ in self._under_way)

    def release(self, effect: Release) -> None:
        """Queues one time of an output."""
        p = effect.processor
        if self.sinks[p].exactly_once and effect.incarnation is None:
            under_way = identity(effect) in self._under_way
            self._under_way[identity(effect)] = effect
            if under_way:
                return
        self._submit(p, self._hand_out, effect)

    def settled(self, effect: Release) -> None:
        """The driver has heard that a release was taken."""
        self._under_way.pop(identity(effect), None)

    def failed(self, effect: Release) -> None:
        """The driver has heard that a release is gone; it may have been offered again since."""
        newest = self._under_way.pop(identity(effect), effect)
        if newest is not effect:
            self.release(newest)

    def close(self) -> None:
        """Ends the threads; what is queued is left for the next run."""
        self._closing.set()
        for threads in self._threads.values():
            threads.shutdown(cancel_futures=True)
        for sink in self.sinks.values():
            getattr(sink, "close", lambda: None)()

    # What happens on the threads of the sinks.

    def _submit(self, p: ProcessorId, function: Callable[..., None], *args: Any) -> None:
        with self._lock:
            self._waiting += 1
        self._threads[p].submit(function, *(args or (p,)))

    def _done(self) -> None:
        with self._lock:
            self._waiting -= 1

    def _attach(self, p: ProcessorId) -> None:
        """Tells a sink whose times it will get, before it gets the first."""
        try:
            self._insisting.on(
                lambda: self.sinks[p].attach(p, self.store), f"sink {p}, when it was opened"
            )
        except Exception as error:
            self._unusable.add(p)
            self._broken(described(error, f"the sink {p!r} cannot be used", "Nothing was written"))
        finally:
            self._done()

    def _hand_out(self, effect: Release) -> None:
        p = effect.processor
        if self.sinks[p].exactly_once and any(gone < effect.time for gone in self._gone[p]):
            self._held[p].append(effect)
            return  # it still waits
        self._gone[p].discard(effect.time)
        try:
            if p not in self._unusable and not self._closing.is_set():
                self._write(effect)
        finally:
            self._done()
            self._follow(p)

    def _follow(self, p: ProcessorId) -> None:
        """Lets those go on whose turn it is, now that what they waited for has come."""
        held, self._held[p] = sorted(self._held[p], key=lambda each: each.time), []
        for each in held:
            self._hand_out(each)

    def _write(self, effect: Release) -> None:
        p, sink = effect.processor, self.sinks[effect.processor]
        try:
            self._insisting.on(
                lambda: offer(sink, effect, self.materialiser),
                f"sink {p}, time {effect.time}",
                unless=lambda error: self._is_gone(effect, error),
            )
        except Exception as error:
            if self._is_gone(effect, error):
                self._gone[p].add(effect.time)
                self._missed(effect)
                return
            self._unusable.add(p)  # times are taken in order: no later one before this one
            self._broken(
                described(
                    error,
                    f"the sink {p!r} did not take time {effect.time}",
                    "It is staged durably",
                )
            )
        else:
            self._taken(effect)

    def _is_gone(self, effect: Release, error: Exception) -> bool:
        return is_loss(error) and any(map(self.materialiser.find_lost, contents_of(effect)))


def identity(effect: Release) -> tuple[ProcessorId, Any]:
    """What is released: one time of one output."""
    return effect.processor, effect.time


def contents_of(effect: Release) -> list[Content]:
    """All that is released."""
    return [batch.content for batch in effect.batches]
