"""Looking at the batches that a flow has set aside, without Spark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.times import ProcessorId
from falkirk.dataflow.builder import Dataflow
from falkirk.dataflow.context import ASIDE
from falkirk.store import Reference, Store, open_store


class Aside(NamedTuple):
    """A batch that could not be processed.

    ``time`` is that of the event; below the low-watermark batches of several times are merged, and
    it is one that no event to come can tell from theirs.
    """

    processor: ProcessorId
    time: Any
    rows: pa.Table


def set_aside(flow: Dataflow, store: str | Path) -> list[Aside]:
    """All that was set aside by ``flow`` and is durable in ``store``."""
    opened = open_store(str(store))
    try:
        return list(found_in(flow, opened))
    finally:
        opened.close()


def found_in(flow: Dataflow, store: Store) -> Iterator[Aside]:
    """The batches with the label of those set aside."""

    def revive(reference: Reference, label: str) -> tuple[Reference, str]:
        return reference, label

    for p, stored in store.load(flow.build().flow, revive).items():
        entries = list(stored.ledger.base.state)
        for record in stored.ledger.records.values():
            entries += [(record.time, batch) for batch in record.state]
        for time, batch in entries:
            if isinstance(batch, tuple) and batch[1] == ASIDE:
                yield Aside(p, time, store.files.read(batch[0]))
