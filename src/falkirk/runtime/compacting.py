"""Merges the runs of traces below the low-watermark, beside everything else."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from falkirk.core.machine.events import Compacted, Notification, Work
from falkirk.core.times import ProcessorId, SequenceNumber
from falkirk.dataflow.context import ASIDE
from falkirk.runtime.batch import Batch
from falkirk.runtime.compaction import runs_to_merge
from falkirk.runtime.context import EventContext, StateView

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver


log = logging.getLogger("falkirk.compaction")


class Compactor:
    """Starts merges for the driver, one at a time for each processor."""

    def __init__(self, driver: "Driver") -> None:
        """Nothing is being merged."""
        self.driver = driver
        self.merging: set[ProcessorId] = set()

    def look(self, p: ProcessorId) -> None:
        """Starts a merge if the trace of ``p`` has too many runs."""
        if p in self.merging or p not in self.driver.tasks.processors:
            return
        for time, entries in self.driver.machine.compactable(p):
            by_label: dict[str, list[Any]] = {}
            for entry in in_order(entries):
                by_label.setdefault(entry[1].label, []).append(entry)
            for label, found in by_label.items():
                count = runs_to_merge([entry[1].content.size or 0 for entry in found])
                if count:
                    self.merging.add(p)
                    self.driver.working.submit(self._merge, p, time, label, found[-count:])
                    return

    def _merge(self, p: ProcessorId, time: Any, label: str, taken: list[Any]) -> None:
        try:
            work = Work(-1, -1, Notification(p, time))
            context = EventContext(
                self.driver.blueprint.flow,
                work,
                self.driver.materialiser,
                StateView(time, [], []),
                (),
            )
            batches = [batch.lend() for _, batch in taken]
            with self.driver.materialiser.event():
                if label == ASIDE:  # of several ports, perhaps, and so of several kinds
                    materialiser = self.driver.materialiser
                    found = materialiser.union([each.content for each in batches], p, alike=False)
                    merged = Batch(found, materialiser)
                else:
                    processor = self.driver.tasks.processors[p]
                    merged = context.batch(processor.consolidate(context.offered, list(batches)))
                put = ((time, merged.materialise().labelled(label)),)
        except Exception as error:
            self.driver.working.returned(self._failed, p, error)
        else:
            self.driver.working.returned(self._merged, Compacted(p, tuple(taken), put))

    def _merged(self, event: Compacted) -> None:
        self.merging.discard(event.processor)
        if any(batch.content.lost for _, batch in event.put):
            return
        self.driver.step(event)
        self.look(event.processor)

    def _failed(self, p: ProcessorId, error: Exception) -> None:
        self.merging.discard(p)
        # The runs are still there: nothing is lost but tidiness.
        log.warning("the trace of %s could not be merged: %s", p, error)


def in_order(entries: Sequence[tuple[Any, Batch]]) -> list[tuple[Any, Batch]]:
    """Runs from the oldest to the newest; sequence numbers stand in the order of arrival."""
    if entries and isinstance(entries[0][0], SequenceNumber):
        return list(entries)
    return sorted(entries, key=lambda entry: entry[0])
