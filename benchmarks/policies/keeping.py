"""How much a store keeps of a running aggregate in the long run, against the live state."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa

import falkirk as fk
from benchmarks.inputs.draws import Draws, Shape
from falkirk.runtime.run import run as run_flow
from falkirk.store import open_store
from falkirk.store.parquet import encoded

KEYS, ROWS_PER_EPOCH = 200_000, 1_000


@dataclass(frozen=True)
class Kept:
    """Bytes: of the live state, of the data folder at the end, of the metadata.

    ``seen`` are the bytes of the data folder after so many epochs, each time that they changed.
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


class Watched:
    """A place of batches that tells how many bytes it holds, whenever that changes.

    Who looks from outside, now and then, would miss the moments in between.
    """

    def __init__(self, place: Any, changed: Callable[[int], None]) -> None:
        """Tells ``changed``; what ``place`` holds already is not counted."""
        self._place, self._changed = place, changed
        self._sizes: dict[str, int] = {}
        self._lock = Lock()

    def fill(self, name: str, content: Any) -> None:
        """Counts what is written from the moment on when it begins to be."""
        self._note(name, len(content))
        self._place.fill(name, content)

    def finish(self, name: str) -> None:
        """Only its name changes."""
        self._place.finish(name)
        with self._lock:
            self._sizes[name] = self._sizes.pop(self._place.unfinished(name))

    def delete(self, name: str) -> None:
        """It is gone."""
        self._place.delete(name)
        self._note(name, 0)

    def _note(self, name: str, size: int) -> None:
        with self._lock:
            self._sizes[name] = size
            self._changed(sum(self._sizes.values()))

    def __getattr__(self, name: str) -> Any:
        """Everything else is the place's own."""
        return getattr(self._place, name)


class Nowhere:
    """A sink that forgets."""

    exactly_once = False

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Forgets."""


def keep(session: Any, folder: Path, policy: fk.Policy, epochs: int) -> Kept:
    """Runs a count for ``epochs`` and watches what the store holds."""
    seen = list[tuple[int, int]]()
    source = Draws(Shape(ROWS_PER_EPOCH, KEYS), epochs)
    flow = fk.Dataflow("keeping")
    flow.read(source).group_by("key").count(name="counts", policy=policy).write(Nowhere())

    store = open_store(str(folder))
    watched = Watched(store.files.place, lambda size: seen.append((len(source.reads), size)))
    store.files.place, store.files.fill = watched, watched.fill
    try:
        run_flow(flow, store, session)
    finally:
        store.close()
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
