"""What a run counts of its processors, for those who listen to it."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.machine.boundary import whole_epochs
from falkirk.core.times import ProcessorId, SequenceNumber
from falkirk.runtime.batch import Batch

KEPT_EPOCHS = 256
"""How long it is known when an epoch was read: outputs are taken some time after it is complete."""


@dataclass(slots=True)
class Counts:
    """What a run has counted of each processor, and when it read which epoch.

    Processors with the same epochs have one scale; those behind windows, say, have another.
    """

    scales: Mapping[ProcessorId, ProcessorId]
    events: Counter[ProcessorId] = field(default_factory=Counter)
    rows: Counter[ProcessorId] = field(default_factory=Counter)
    replayed_rows: int = 0
    read_at: dict[ProcessorId, dict[int, float]] = field(default_factory=dict)
    went_round: dict[ProcessorId, dict[int, int]] = field(default_factory=dict)

    def processed(self, p: ProcessorId, when: Any, batch: Any, again: bool = False) -> None:
        """An event of ``p`` was processed; ``again`` says that it had been before a failure."""
        rows = rows_of(batch) or 0
        self.events[p] += 1
        self.rows[p] += rows
        self.replayed_rows += rows if again else 0
        if not isinstance(when, SequenceNumber) and len(when) > 1:
            epochs = self.went_round.setdefault(p, {})
            epochs[when[0]] = max(epochs.get(when[0], 0), when[-1] + 1)
            if len(epochs) > KEPT_EPOCHS:  # nobody asks
                del epochs[min(epochs)]

    def rounds(self, p: ProcessorId, completed: Any) -> int:
        """How often the loop of ``p`` went round in the newest epoch that is complete.

        Before the first one is, so far in that; 0 outside of loops.
        """
        if not (epochs := self.went_round.get(p)):
            return 0
        done = whole_epochs(completed)
        newest = max((epoch for epoch in epochs if epoch <= done), default=min(epochs))
        for epoch in [epoch for epoch in epochs if epoch < newest]:
            del epochs[epoch]
        return epochs[newest]

    def read(self, p: ProcessorId, epoch: int) -> None:
        """An input has read an epoch; of several inputs the first counts."""
        self.read_at.setdefault(self._scale(p), {}).setdefault(epoch, time.monotonic())

    def since(self, p: ProcessorId, completed: Any) -> float | None:
        """When the oldest epoch outside ``completed`` was read, if there is one."""
        if not hasattr(completed, "maximal"):
            return None
        done = whole_epochs(completed)
        read = self.read_at.get(self._scale(p), {})
        return min((at for epoch, at in read.items() if epoch > done), default=None)

    def when(self, p: ProcessorId, time: Any) -> float | None:
        """When the epoch of a time was read."""
        return self.read_at.get(self._scale(p), {}).get(time[0])

    def forget(self, completed: Mapping[ProcessorId, Any]) -> None:
        """Drops the epochs that were complete everywhere a while ago."""
        for scale, read in self.read_at.items():
            done = min(
                whole_epochs(each)
                for p, each in completed.items()
                if self._scale(p) == scale and hasattr(each, "maximal")
            )
            for epoch in [epoch for epoch in read if epoch <= done - KEPT_EPOCHS]:
                del read[epoch]

    def _scale(self, p: ProcessorId) -> ProcessorId:
        return self.scales.get(p, p)


def rows_of(batch: Any) -> int | None:
    """How many rows a batch has, if that is known."""
    return batch.rows if isinstance(batch, Batch) else None
