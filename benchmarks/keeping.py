"""How much a store keeps of a running aggregate in the long run, against the live state."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa

import falkirk as fk
from falkirk.runtime.run import run as run_flow
from falkirk.store import open_store
from falkirk.store.parquet import encoded

KEYS, ROWS_PER_EPOCH = 200_000, 1_000
LOOK_SECONDS = 0.25


@dataclass(frozen=True)
class Kept:
    """Bytes: of the live state, of the data folder at the end and at most, of the metadata."""

    live: int
    end: int
    most: int
    metadata: int
    keys: int


class Draws:
    """Random keys, so many an epoch; the same for the same position."""

    replayable = True

    def __init__(self, epochs: int) -> None:
        """Ends after so many epochs."""
        self.epochs, self.now = epochs, 0

    def initial(self) -> int:
        """Before the first epoch."""
        return 0

    def latest(self, start: int, limit: Any) -> int:
        """The next epoch."""
        return min(start + 1, self.epochs)

    def read(self, session: Any, start: int, end: int) -> Any:
        """The keys of one epoch."""
        self.now = start
        rows = session.range(start * ROWS_PER_EPOCH, end * ROWS_PER_EPOCH, 1, 1)
        return rows.selectExpr(f"pmod(xxhash64(id), {KEYS}) AS key")

    def size(self, start: int, end: int) -> int:
        """Eight bytes a key."""
        return 8 * ROWS_PER_EPOCH * (end - start)

    def finished(self, position: int) -> bool:
        """Whether that was the last epoch."""
        return position >= self.epochs

    def commit(self, end: int) -> None:
        """They can always be had again."""


class Nowhere:
    """A sink that forgets."""

    exactly_once = False

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Forgets."""


def keep(session: Any, folder: Path, policy: fk.Policy, epochs: int) -> Kept:
    """Runs a count for ``epochs`` and looks at what the store holds."""
    source, done, most = Draws(epochs), Event(), [0]
    flow = fk.Dataflow("keeping")
    flow.read(source).group_by("key").count(name="counts", policy=policy).write(Nowhere())

    def look() -> None:
        while not done.wait(LOOK_SECONDS):
            if source.now > epochs // 2:
                most[0] = max(most[0], bytes_in(folder / "data"))

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
    return Kept(len(encoded(table)), end, max(most[0], end), metadata, table.num_rows)


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
