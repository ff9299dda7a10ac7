"""State of up to ten million keys: what does an epoch cost that touches a thousand of them?"""

import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import falkirk as fk
from benchmarks.keeping import bytes_in
from benchmarks.plots import Lines
from benchmarks.report import Report, Table
from benchmarks.spread import spread
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.options import Options
from falkirk.runtime.run import run as run_flow

KEYS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LOADED = 1_000_000
"""So many new keys an epoch at most, while the state grows."""

TOUCHED, WARM = 1_000, 3
"""Rows of an epoch of changes, and how many such epochs are not counted."""


class Grown:
    """First every key once, a million an epoch, then epochs that touch a few of them."""

    replayable = True

    def __init__(self, keys: int, epochs: int) -> None:
        """So many epochs after those that load all keys."""
        self.keys, self.loads = keys, -(-keys // LOADED)
        self.epochs = self.loads + epochs

    def initial(self) -> int:
        """Before all keys."""
        return 0

    def latest(self, start: int, limit: Limit) -> int:
        """The next epoch."""
        return min(start + 1, self.epochs)

    def read(self, session: Any, start: int, end: int) -> Any:
        """The next keys of all, or some."""
        if start < self.loads:
            last = min(self.keys, end * LOADED)
            return session.range(start * LOADED, last).withColumnRenamed("id", "key")
        rows = session.range(start * TOUCHED, end * TOUCHED, 1, 1)
        return rows.selectExpr(f"pmod(xxhash64(id), {self.keys}) AS key")

    def size(self, start: int, end: int) -> int:
        """Eight bytes a key, and as many for its count."""
        return 16 * (min(self.keys, LOADED) if start < self.loads else TOUCHED)

    def finished(self, position: int) -> bool:
        """Whether that was the last epoch."""
        return position >= self.epochs

    def commit(self, end: int) -> None:
        """They can always be had again."""


class Times:
    """A sink that notes when it was handed each epoch."""

    exactly_once = True

    def __init__(self) -> None:
        """Nothing has come."""
        self.at: list[float] = []

    def write(self, name: str, time_: Any, batch: Any) -> None:
        """Notes it."""
        batch.arrow()
        self.at.append(time.monotonic())


def add(report: Report, session: Any, quick: bool) -> None:
    """Runs a count for each size, one epoch at a time."""
    sizes, epochs = (KEYS[:2], 4) if quick else (KEYS, 12)
    report.settings["keys"] = (
        f"a running count, lazy(); every key once, {LOADED:,} an epoch, then {epochs} epochs of"
        f" {TOUCHED:,} random keys, one at a time; the first {WARM} of them warm up"
    )
    table = Table(
        "Keys",
        ["keys", "loading, s", "ms an epoch of changes", "data at the end, MB"],
        note="Median, with the least and the greatest. State of more than 32 MiB a piece rests on"
        " executors.",
    )
    changes = []
    for keys in sizes:
        first, later, kept = measured(session, keys, epochs)
        counted = later[WARM:] if len(later) > WARM + 1 else later
        changes.append((float(keys), sorted(counted)[len(counted) // 2] * 1e3))
        shown = spread([each * 1e3 for each in counted], "{:.0f}".format)
        table.rows.append([f"{keys:,}", f"{first:.1f}", shown, f"{kept / 1e6:.1f}"])
    report.tables.append(table)
    title = f"An epoch that touches {TOUCHED:,} keys"
    report.figures.append(Lines("keys", title, "keys", "ms", {"lazy()": changes}, log="xy"))


def measured(session: Any, keys: int, epochs: int) -> tuple[float, list[float], int]:
    """Seconds to load all keys and of each later epoch, and the bytes in the store."""
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    sink, source = Times(), Grown(keys, epochs)
    flow = fk.Dataflow("keys")
    counts = flow.read(source, name="keys").group_by("key").count(name="counts")
    counts.write(sink, name="shown")
    try:
        begun = time.monotonic()
        run_flow(flow, place, session, options=Options(epochs_ahead=1))
        kept = bytes_in(place / "data")
    finally:
        shutil.rmtree(place, ignore_errors=True)
    loaded = sink.at[source.loads - 1 :]
    return loaded[0] - begun, [b - a for a, b in pairwise(loaded)], kept
