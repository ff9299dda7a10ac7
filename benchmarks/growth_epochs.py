"""Ten thousand epochs: does an epoch at the end take longer than one at the beginning?"""

import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import falkirk as fk
from benchmarks.draws import Draws, Shape
from benchmarks.keeping import bytes_in
from benchmarks.matrix_flow import Shown
from benchmarks.measure import resident_bytes
from benchmarks.plots import Lines
from benchmarks.report import Report, Table
from benchmarks.spread import median, verdict
from falkirk.runtime.classic import Gateway
from falkirk.runtime.run import run as run_flow

SHAPE = Shape(rows=100, keys=1_000)
MARKS = 20
SLOWER_AT_MOST, LARGER_AT_MOST = 1.15, 1.5


class Probe:
    """Looks at a run every so many epochs."""

    def __init__(self, session: Any, store: Path, step: int) -> None:
        """Nothing was seen yet."""
        self.gateway, self.store, self.step = Gateway(session), store, step
        self.seen: list[dict[str, float]] = []
        self.began = time.monotonic()

    def heard(self, epoch: int) -> None:
        """An epoch is read; what looking costs is not counted."""
        if epoch % self.step:
            return
        before = time.monotonic()
        now = before - self.began
        metadata = sum(path.stat().st_size for path in self.store.glob("metadata.sqlite*"))
        self.seen.append(
            {
                "epoch": epoch,
                "seconds": now,
                "data": bytes_in(self.store / "data"),
                "metadata": metadata,
                "python": resident_bytes(),
                "heap": self.gateway.heap_bytes(),
            }
        )
        self.began += time.monotonic() - before


def add(report: Report, session: Any, quick: bool) -> None:
    """Runs a flow for a long time, and looks at it on the way."""
    epochs = 60 if quick else 10_000
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    try:
        probe = Probe(session, place, max(1, epochs // MARKS))
        source = Draws(SHAPE, epochs + 1, heard=probe.heard)
        flow = fk.Dataflow("epochs")
        counts = flow.read(source, name="draws").group_by("key").count(name="counts")
        counts.write(Shown(SHAPE.keys, True), name="shown")
        run_flow(flow, place, session)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    stretches = [
        (b["epoch"], (b["seconds"] - a["seconds"]) / (b["epoch"] - a["epoch"]) * 1e3)
        for a, b in pairwise(probe.seen)
    ]
    tell(report, epochs, probe.seen, stretches)


def tell(
    report: Report,
    epochs: int,
    seen: list[dict[str, float]],
    stretches: list[tuple[float, float]],
) -> None:
    """Puts what was found into the report."""
    report.settings["epochs"] = (
        f"{epochs:,} epochs of {SHAPE.rows} rows, counted by {SHAPE.keys:,} keys, lazy(), an"
        " exactly-once sink, four epochs at once"
    )
    table = Table(
        "Epochs",
        ["after epochs", "ms an epoch", "data", "metadata", "Python", "JVM heap"],
        note="Milliseconds are those of the stretch before; sizes are what is there at that"
        " moment, in MB, with the write-ahead log of the metadata.",
    )
    for (epoch, ms), each in zip(stretches, seen[1:], strict=True):
        sizes = [f"{each[k] / 1e6:.1f}" for k in ("data", "metadata", "python", "heap")]
        table.rows.append([f"{epoch:,.0f}", f"{ms:.1f}", *sizes])
    report.tables.append(table)
    early, late = stretches[1 : len(stretches) // 4 + 1], stretches[-(len(stretches) // 4) :]
    ratio = median([ms for _, ms in late]) / median([ms for _, ms in early])
    middle, size = len(seen) // 4, [each["data"] + each["metadata"] for each in seen]
    grown = median(size[-middle:]) / median(size[middle : 2 * middle])
    assert report.targets is not None
    report.targets.rows += [  # of a quick look nobody expects figures
        [
            f"an epoch of the last quarter of {epochs:,} at most {SLOWER_AT_MOST}× of one of the"
            " first",
            f"{ratio:.2f}×",
            verdict(ratio <= SLOWER_AT_MOST),
        ],
        [
            f"storage in the last quarter at most {LARGER_AT_MOST}× of the second",
            f"{grown:.2f}×",
            verdict(grown <= LARGER_AT_MOST),
        ],
    ]
    megabytes = {
        name: [(each["epoch"], each[key] / 1e6) for each in seen]
        for name, key in (("data", "data"), ("metadata", "metadata"))
    }
    report.figures += [
        Lines("epochs", "Time an epoch", "epochs so far", "ms", {"lazy()": stretches}),
        Lines("storage", "What the store holds", "epochs so far", "MB", megabytes),
    ]
