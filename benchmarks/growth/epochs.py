"""Ten thousand epochs: does an epoch at the end take longer than one at the beginning?"""

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import falkirk as fk
from benchmarks.harness.measure import resident_bytes
from benchmarks.harness.plots import Lines
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import if_apart, median, spread, verdict
from benchmarks.inputs.draws import Draws, Shape
from benchmarks.policies.flow import Shown
from benchmarks.policies.keeping import bytes_in
from falkirk.runtime.classic import Gateway
from falkirk.runtime.run import run as run_flow

SHAPE = Shape(rows=100, keys=1_000)
MARKS = 20
SLOWER_AT_MOST, LARGER_AT_MOST = 1.15, 1.5
SIZES = ("data", "metadata", "python", "heap")


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


@dataclass(frozen=True)
class Course:
    """How one run went: what was seen at each mark."""

    seen: Sequence[dict[str, float]]

    @property
    def stretches(self) -> list[tuple[float, float]]:
        """Where each stretch ends, and the milliseconds of an epoch in it."""
        return [
            (b["epoch"], (b["seconds"] - a["seconds"]) / (b["epoch"] - a["epoch"]) * 1e3)
            for a, b in pairwise(self.seen)
        ]

    @property
    def slower(self) -> float:
        """An epoch of the last quarter over one of the first."""
        ms = [each for _, each in self.stretches]
        quarter = len(ms) // 4
        return median(ms[-quarter:]) / median(ms[:quarter])

    @property
    def larger(self) -> float:
        """What the store holds in the last quarter over what it holds in the second."""
        held = [each["data"] + each["metadata"] for each in self.seen]
        quarter = len(held) // 4
        return median(held[-quarter:]) / median(held[quarter : 2 * quarter])


def add(report: Report, session: Any, quick: bool) -> None:
    """Runs a flow for a long time, several times, and looks at it on the way."""
    warm, epochs, runs = (20, 60, 1) if quick else (1_000, 10_000, 3)
    course(session, warm)
    tell(report, warm, epochs, [course(session, epochs) for _ in range(runs)])


def course(session: Any, epochs: int) -> Course:
    """One run from an empty store."""
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
    return Course(probe.seen)


def tell(report: Report, warm: int, epochs: int, courses: Sequence[Course]) -> None:
    """Puts what was found into the report."""
    report.settings["epochs"] = (
        f"{epochs:,} epochs of {SHAPE.rows} rows, counted by {SHAPE.keys:,} keys, lazy(), an"
        f" exactly-once sink, four epochs at once; {len(courses)} runs, each from an empty store,"
        f" after {warm:,} epochs to warm up"
    )
    report.tables.append(marks(courses))
    slower, larger = [each.slower for each in courses], [each.larger for each in courses]
    assert report.targets is not None
    report.targets.rows += [  # of a quick look nobody expects figures
        [
            f"an epoch of the last quarter of {epochs:,} at most {SLOWER_AT_MOST}× of one of the"
            " first",
            spread(slower, "{:.2f}×".format),
            verdict(median(slower) <= SLOWER_AT_MOST),
        ],
        [
            f"storage in the last quarter at most {LARGER_AT_MOST}× of the second",
            spread(larger, "{:.2f}×".format),
            verdict(median(larger) <= LARGER_AT_MOST),
        ],
    ]
    by_run = {f"lazy(), run {n}": each.stretches for n, each in enumerate(courses, 1)}
    megabytes = {
        key: [
            (at[0]["epoch"], median([each[key] for each in at]) / 1e6)
            for at in zip(*(each.seen for each in courses), strict=True)
        ]
        for key in ("data", "metadata")
    }
    report.figures += [
        Lines("epochs", "Time an epoch", "epochs so far", "ms", by_run),
        Lines("storage", "What the store holds", "epochs so far", "MB", megabytes),
    ]


def marks(courses: Sequence[Course]) -> Table:
    """What was seen at each mark, over all runs."""
    table = Table(
        "Epochs",
        ["after epochs", "ms an epoch", "data", "metadata", "Python", "JVM heap"],
        note="Milliseconds are those of the stretch before; sizes are what is there at that"
        " moment, in MB, with the write-ahead log of the metadata. Median of the runs, with the"
        " least and the greatest where they differ.",
    )
    stretches = zip(*(each.stretches for each in courses), strict=True)
    seen = zip(*(each.seen[1:] for each in courses), strict=True)
    for stretch, at in zip(stretches, seen, strict=True):
        ms = spread([each for _, each in stretch], "{:.1f}".format)
        sizes = [if_apart([each[key] / 1e6 for each in at], "{:.2f}".format) for key in SIZES]
        table.rows.append([f"{stretch[0][0]:,.0f}", ms, *sizes])
    return table
