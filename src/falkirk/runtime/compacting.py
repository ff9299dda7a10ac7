"""Merges the runs of traces below the low-watermark, beside everything else."""

import logging
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from falkirk.core.machine.events import Compacted, Notification, Work
from falkirk.core.times import ProcessorId, SequenceNumber
from falkirk.dataflow.context import ASIDE
from falkirk.runtime.batch import Batch
from falkirk.runtime.compaction import Due, Run, due
from falkirk.runtime.context import EventContext, StateView
from falkirk.runtime.dividing import divided

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver

Entry = tuple[Any, Batch]

log = logging.getLogger("falkirk.compaction")


class Compactor:
    """Starts merges for the driver, one at a time for each processor.

    If there was much to merge, the next merge waits until what was merged is gone from the disk.
    """

    def __init__(self, driver: "Driver") -> None:
        """Nothing is being merged."""
        self.driver = driver
        self.bytes_min = driver.options.divided_bytes_min
        self.merging: set[ProcessorId] = set()
        self._lingering: dict[ProcessorId, list[str]] = {}

    def look(self, p: ProcessorId) -> None:
        """Starts a merge if the trace of ``p`` has too many runs."""
        if p in self.merging or p not in self.driver.tasks.processors:
            return
        for time, entries in self.driver.machine.compactable(p):
            by_label: dict[str, list[Entry]] = {}
            for entry in in_order(entries):
                by_label.setdefault(entry[1].label, []).append(entry)
            for label, found in by_label.items():
                bytes_min = self.bytes_min if self._keys(p, label) else inf
                how = due([run(batch) for _, batch in found], bytes_min)
                if how is not None:
                    self.merging.add(p)
                    taken = [found[place] for place in how.places]
                    self.driver.working.submit(self._merge, p, time, label, taken, how)
                    return

    def tick(self) -> None:
        """Looks again whether what was merged is gone."""
        lingering, self._lingering = self._lingering, {}
        for p, names in lingering.items():
            self.driver.working.submit(self._look_for, p, names)

    def _keys(self, p: ProcessorId, label: str) -> Sequence[str]:
        return () if label == ASIDE else self.driver.tasks.processors[p].merge_keys

    def _merge(self, p: ProcessorId, time: Any, label: str, taken: list[Entry], how: Due) -> None:
        try:
            with self.driver.materialiser.event():
                merged = self._merged_batch(p, time, label, [batch.lend() for _, batch in taken])
                if how.divided:
                    found = divided(merged, self._keys(p, label))
                else:
                    found = [merged.materialise()]
                    merged.content.piece = how.piece
                put = tuple((time, batch.labelled(label)) for batch in found)
        except Exception as error:
            self.driver.working.returned(self._failed, p, error)
        else:
            self.driver.working.returned(self._merged, Compacted(p, tuple(taken), put))

    def _merged_batch(self, p: ProcessorId, time: Any, label: str, batches: list[Batch]) -> Batch:
        materialiser = self.driver.materialiser
        if label == ASIDE:  # of several ports, perhaps, and so of several kinds
            found = materialiser.union([each.content for each in batches], p, alike=False)
            return Batch(found, materialiser)
        work, nothing = Work(-1, -1, Notification(p, time)), StateView(time, [], [])
        context = EventContext(self.driver.blueprint.flow, work, materialiser, nothing, ())
        processor = self.driver.tasks.processors[p]
        return context.batch(processor.consolidate(context.offered, list(batches)))

    def _merged(self, event: Compacted) -> None:
        p = event.processor
        if any(batch.content.lost for _, batch in event.put):
            self.merging.discard(p)
            return
        self.driver.step(event)
        references = [batch.reference for _, batch in event.taken if batch.reference is not None]
        if sum(reference.size for reference in references) < self.bytes_min:
            self._done(p)
            return
        names = [reference.name for reference in references]
        ask, submit = self.driver.persistence.ask, self.driver.working.submit
        ask(lambda: self.driver.tell(submit, self._look_for, p, names))

    def _look_for(self, p: ProcessorId, names: list[str]) -> None:
        """Looks whether files of runs that were merged are gone."""
        lingering = self.driver.store.lingering(names)
        self.driver.working.returned(self._looked_for, p, names if lingering else [])

    def _looked_for(self, p: ProcessorId, names: list[str]) -> None:
        if names:
            self._lingering[p] = names
        else:
            self._done(p)

    def _done(self, p: ProcessorId) -> None:
        self.merging.discard(p)
        self.look(p)

    def _failed(self, p: ProcessorId, error: Exception) -> None:
        self.merging.discard(p)
        # The runs are still there: nothing is lost but tidiness.
        log.warning("the trace of %s could not be merged: %s", p, error)


def run(batch: Batch) -> Run:
    """What there is to know of a batch as a run."""
    size, reference = batch.size or 0, batch.reference
    return Run(size, size if reference is None else reference.size, batch.content.piece)


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Runs from the oldest to the newest; sequence numbers stand in the order of arrival."""
    if entries and isinstance(entries[0][0], SequenceNumber):
        return list(entries)
    return sorted(entries, key=lambda entry: entry[0])
