"""How much a store keeps of a running aggregate in the long run, against the live state."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa

import falkirk as fk
from benchmarks.draws import Draws, Shape
from falkirk.runtime.run import run as run_flow
from falkirk.store import open_store
from falkirk.store.parquet import encoded

KEYS, ROWS_PER_EPOCH = 200_000, 1_000
LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Kept:
    """Bytes: of the live state, of the data folder at the end, of the metadata.

    ``seen`` are the bytes of the data folder after so many epochs, looked at again and again.
    """

    live: int
    end: int
    metadata: int
    keys: int
    seen: tuple[tuple[int, int], ...]

    @property
    def later(self) -> list[int]:
        """What was seen in the second half, when the state has about its full size."""
        half = self.seen[-1][0] // 2 if self.seen else 0
        return [size for epoch, size in self.seen if epoch > half] + [self.end]

    @property
    def most(self) -> int:
        """The largest of these."""
        return max(self.later)

    def within(self, times: float) -> float:
        """The part of the later looks that found at most so many ``times`` the live state."""
        later = self.later
        return sum(size <= times * self.live for size in later) / len(later)


class Nowhere:
    """A sink that forgets."""

    exactly_once = False

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Forgets."""


def keep(session: Any, folder: Path, policy: fk.Policy, epochs: int) -> Kept:
    """Runs a count for ``epochs`` and looks at what the store holds."""
    done, seen = Event(), list[tuple[int, int]]()
    source = Draws(Shape(ROWS_PER_EPOCH, KEYS), epochs)
    flow = fk.Dataflow("keeping")
    flow.read(source).group_by("key").count(name="counts", policy=policy).write(Nowhere())

    def look() -> None:
        while not done.wait(LOOK_SECONDS):
            seen.append((len(source.reads), bytes_in(folder / "data")))

    looking = Thread(target=look)
    looking.start()
    try:
        run_flow(flow, folder, session)
    finally:
        done.set()
        looking.join()
    table = live_state(flow, folder)
    end = bytes_in(folder / "data")
    metadata = sum(path.stat().st_size for path in folder.glob("metadata.sqlite*"))
    return Kept(len(encoded(table)), end, metadata, table.num_rows, tuple(seen))


def live_state(flow: fk.Dataflow, folder: Path) -> pa.Table:
    """All that the store holds of the count, merged into one row a key."""
    store = open_store(folder)
    try:
        ledger = store.load(flow.build().flow, lambda reference, _: reference)["counts"].ledger
        runs = [reference for _, reference in ledger.base.state]
        runs += [reference for record in ledger.records.values() for reference in record.state]
        table = pa.concat_tables([store.files.read(reference) for reference in runs])
    finally:
        store.close()
    merged = table.group_by("key").aggregate([("count", "sum")])
    return merged.rename_columns(["key", "count"]).sort_by("key")


def bytes_in(folder: Path) -> int:
    """The sizes of all files, some of which may go meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total
