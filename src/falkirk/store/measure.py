"""How fast a place is for a store: ``python -m falkirk.store.measure PLACE``.

PLACE is what :func:`open_store` takes. Medians are printed; what was written is removed from the
store again, except that a new store stays.
"""

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.domain import EPOCH
from falkirk.core.machine.events import Persist, Retract
from falkirk.core.machine.ledger import Record
from falkirk.core.times import ProcessorId
from falkirk.store.opening import open_store
from falkirk.store.reference import Reference
from falkirk.store.store import SqlStore

PROBE = ProcessorId("falkirk.store.measure")
RECORDS = 10
ROUNDS = 50


class Durable:
    """A batch as a store sees it."""

    label = ""

    def __init__(self, reference: Reference) -> None:
        """A batch in a file of its own."""
        self.reference = reference


def main(place: str) -> None:
    """Measures the store at ``place`` and prints what was found."""
    store = open_store(place)
    try:
        store.acquire()
        table = pa.table({"key": list(range(100)), "value": [1.0] * 100})
        show(f"commit of {RECORDS} records", ROUNDS, commits(store, lambda: {"n": 1}))
        show("small file", ROUNDS, lambda i: store.files.write(table))
        durable = commits(store, lambda: Durable(store.files.write(table)))
        show(f"{RECORDS} files and their commit", ROUNDS, durable)
        incarnation = {PROBE: 0}
        show("retraction of all", 1, lambda i: store.transact([Retract(nothing(), incarnation)]))
        store.collect_garbage()
    finally:
        store.close()


def commits(store: SqlStore, batch: Callable[[], Any]) -> Callable[[int], None]:
    """Stores a checkpoint of some records, each with one ``batch``."""

    def commit(i: int) -> None:
        times = [(i * RECORDS + k,) for k in range(RECORDS)]
        records = tuple(Record(time, state=[batch()]) for time in times)
        checkpoint = Checkpoint(EPOCH.frontier(times))
        store.transact([Persist(i, PROBE, 0, checkpoint, EPOCH.empty, records)])

    return commit


def nothing() -> dict[ProcessorId, Any]:
    """The frontier to which everything is retracted."""
    return {PROBE: EPOCH.empty}


def show(what: str, rounds: int, action: Callable[[int], Any]) -> None:
    """Prints the median time of ``action`` in milliseconds."""
    times = []
    for i in range(rounds):
        start = time.perf_counter()
        action(i)
        times.append(time.perf_counter() - start)
    print(f"{what:32} {median(times) * 1000:9.2f} ms")


if __name__ == "__main__":
    main(sys.argv[1])
