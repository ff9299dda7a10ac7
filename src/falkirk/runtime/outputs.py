"""Handing staged outputs to sinks: in order of their times for each sink, and again until taken."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

from falkirk.core.errors import ConnectorError
from falkirk.core.machine.events import Release
from falkirk.core.times import ProcessorId
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import is_loss
from falkirk.runtime.content import Content
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.patience import OUTSIDE, Patience

log = logging.getLogger("falkirk.sink")


class Outputs:
    """One thread a sink. ``taken(release)`` and ``broken(error)`` are called on it.

    ``missed(release)`` is called when the rows of a release are gone. Its processor will fail then,
    and offer the time again. An output that has failed offers all times again of which it does not
    know that they were taken; those that are under way need not go twice, for they are the same.
    """

    def __init__(
        self,
        sinks: dict[ProcessorId, Any],
        materialiser: Materialiser,
        taken: Callable[[Release], None],
        broken: Callable[[Exception], None],
        missed: Callable[[Release], None],
        patience: Patience = OUTSIDE,
    ) -> None:
        """Sinks by the names of their processors."""
        self.sinks, self.materialiser, self.patience = sinks, materialiser, patience
        self._taken, self._broken, self._missed = taken, broken, missed
        self._threads = {p: ThreadPoolExecutor(1, f"falkirk-sink-{p}") for p in sinks}
        self._lock, self._waiting = Lock(), 0
        self._under_way: dict[tuple[ProcessorId, Any], Release] = {}

    @property
    def waiting(self) -> int:
        """How many releases the outside has not taken yet."""
        return self._waiting

    def release(self, effect: Release) -> None:
        """Queues one time of an output; called by the driver."""
        if self.sinks[effect.processor].exactly_once:
            under_way = identity(effect) in self._under_way
            self._under_way[identity(effect)] = effect
            if under_way:
                return
        with self._lock:
            self._waiting += 1
        self._threads[effect.processor].submit(self._hand_out, effect)

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
        for threads in self._threads.values():
            threads.shutdown(cancel_futures=True)

    def _hand_out(self, effect: Release) -> None:
        try:
            self._write(effect)
        except Exception as error:
            if is_loss(error) and any(map(self.materialiser.find_lost, contents_of(effect))):
                self._missed(effect)
                return
            self._broken(
                ConnectorError(
                    f"the sink {effect.processor!r} did not take time {effect.time}:"
                    f" {type(error).__name__}: {error}. It is staged durably; mend the sink and"
                    " run again"
                )
            )
        else:
            self._taken(effect)
        finally:
            with self._lock:
                self._waiting -= 1

    def _write(self, effect: Release) -> None:
        if not effect.batches:
            return
        for pause in self.patience.pauses():
            try:
                self._offer(effect)
                return
            except Exception as error:
                if is_loss(error) and any(map(self.materialiser.find_lost, contents_of(effect))):
                    raise
                log.warning("sink %s, time %s: %s; again", effect.processor, effect.time, error)
                time.sleep(pause)
        self._offer(effect)

    def _offer(self, effect: Release) -> None:
        # Made anew for every attempt: rows that were cached may have to be read back by now.
        contents = contents_of(effect)
        content = contents[0] if len(contents) == 1 else self.materialiser.union(contents)
        sink = self.sinks[effect.processor]
        sink.write(effect.processor, effect.time, Batch(content, self.materialiser))


def identity(effect: Release) -> tuple[ProcessorId, Any]:
    """What is released: one time of one output."""
    return effect.processor, effect.time


def contents_of(effect: Release) -> list[Content]:
    """All that is released."""
    return [batch.content for batch in effect.batches]
