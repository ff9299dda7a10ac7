"""A store for systems without selective checkpoints: each one is of the whole state."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from falkirk.core.machine.events import Collect, Persist
from falkirk.differential.weights import stacked
from falkirk.store import open_store


class WholeStore:
    """A store that writes, with every checkpoint, all that its processor keeps, as one file.

    Who cannot tell the state of a time from that of another can neither save what is new nor undo a
    part. What is new is written as well, so that the run can be recovered: a small part of it.
    """

    def __init__(self, place: str) -> None:
        """Opens the store at ``place``."""
        self.store = open_store(place)
        self.folded: dict[Any, list[Any]] = {}
        self.kept: dict[Any, dict[Any, list[Any]]] = {}
        self.files_now: dict[tuple[Any, str], Any] = {}

    def transact(self, effects: Sequence[Any], captures: Mapping[int, Any] | None = None) -> None:
        """Carries out ``effects`` when the whole states of those who save are written."""
        savers = dict.fromkeys(e.processor for e in effects if isinstance(e, Persist))
        for effect in effects:
            if isinstance(effect, Persist):
                kept = self.kept.setdefault(effect.processor, {})
                kept.update((record.time, list(record.state)) for record in effect.records)
            elif isinstance(effect, Collect):
                self.folded[effect.processor] = [batch for _, batch in effect.state]
                for time in effect.times:
                    self.kept.get(effect.processor, {}).pop(time, None)
        for p in savers:
            self.write(p)
        self.store.transact(effects, captures)

    def write(self, p: Any) -> None:
        """Writes all that ``p`` keeps, in the place of what was written before."""
        batches = self.folded.get(p, []) + [b for each in self.kept[p].values() for b in each]
        tables: dict[str, list[pa.Table]] = {}
        for batch in batches:
            if getattr(batch, "label", None) is not None:  # where an input stands is no batch
                tables.setdefault(batch.label, []).append(batch.arrow())
        for label, found in tables.items():
            before = self.files_now.get((p, label))
            self.files_now[p, label] = self.store.files.write(stacked(found).combine_chunks())
            if before is not None:
                self.store.files.delete(before)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self.store, name)
