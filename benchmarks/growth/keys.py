"""State of up to ten million keys: what does an epoch cost that touches a thousand of them?"""

import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import falkirk as fk
from benchmarks.harness.plots import Lines
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import if_apart, median, spread
from benchmarks.policies.keeping import bytes_in
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.options import Options
from falkirk.runtime.run import run as run_flow

KEYS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LOADED = 1_000_000
"""So many new keys an epoch at most, while the state grows."""

ROUNDS, OF_MOST = 3, 2
"""Rounds, and how many of them have the most keys, which take more than a minute to load."""

TOUCHED = 1_000
"""Rows of an epoch of changes."""

EPOCHS, COUNTED = 40, 10
"""Epochs of changes, and how many of the first and of the last of them count: at first what was
loaded is still being merged beside them."""


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
    """Runs a count for each size, in turn, one epoch at a time."""
    sizes, epochs, rounds = (KEYS[:2], 4, 1) if quick else (KEYS, EPOCHS, ROUNDS)
    found: dict[int, list[Grew]] = {keys: [] for keys in sizes}
    for number in range(rounds):
        for keys in sizes[:: -1 if number % 2 else 1]:
            if keys < KEYS[-1] or number < OF_MOST:
                found[keys].append(measured(session, keys, epochs))
    report.settings["keys"] = (
        f"a running count, lazy(); every key once, {LOADED:,} an epoch, then {epochs} epochs of"
        f" {TOUCHED:,} random keys, one at a time; {rounds} rounds in changing order, the most keys"
        f" in {OF_MOST} of them"
    )
    report.tables.append(shown(found))
    title = f"An epoch that touches {TOUCHED:,} keys"
    series = {"behind the loading": curve(found, FIRST), "later": curve(found, LAST)}
    report.figures.append(Lines("keys", title, "keys", "ms", series, log="xy"))


class Grew(NamedTuple):
    """Seconds to load all keys and of each epoch of changes, and the bytes in the store."""

    loading: float
    changes: list[float]
    kept: int

    def ms(self, part: slice) -> float:
        """The middle epoch of some, in milliseconds."""
        return median(self.changes[part]) * 1e3


PARTS = FIRST, LAST = slice(COUNTED), slice(-COUNTED, None)


def curve(found: dict[int, list[Grew]], part: slice) -> list[tuple[float, float]]:
    """What an epoch takes, by the number of keys."""
    return [(float(keys), median([each.ms(part) for each in grew])) for keys, grew in found.items()]


def shown(found: dict[int, list[Grew]]) -> Table:
    """What a size takes, over all rounds."""
    table = Table(
        "Keys",
        [
            "keys",
            "loading, s",
            "ms an epoch of changes, behind the loading",
            "ms later",
            "least and greatest later",
            "data at the end, MB",
        ],
        note=f"Behind the loading are the first {COUNTED} epochs of changes, while what was loaded"
        f" is still being merged beside them; later, the last {COUNTED}. Median of the rounds, with"
        " the least and the greatest; of an epoch, the medians of the rounds. State of more than"
        " 32 MiB a piece rests on executors.",
    )
    for keys, grew in found.items():
        later = [seconds * 1e3 for each in grew for seconds in each.changes[LAST]]
        table.rows.append(
            [
                f"{keys:,}",
                spread([each.loading for each in grew], "{:.1f}".format),
                *(spread([each.ms(part) for each in grew], "{:.0f}".format) for part in PARTS),
                f"{min(later):.0f} to {max(later):.0f}",
                if_apart([each.kept / 1e6 for each in grew], "{:.1f}".format),
            ]
        )
    return table


def measured(session: Any, keys: int, epochs: int) -> Grew:
    """One run."""
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
    return Grew(loaded[0] - begun, [b - a for a, b in pairwise(loaded)], kept)
