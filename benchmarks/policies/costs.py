"""What each policy costs over saving nothing, and how much it keeps on the disk."""

import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import falkirk as fk
from benchmarks.harness import unsaved
from benchmarks.harness.plots import Bars, Figure, Lines, bar
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import median, quantile, spread, verdict
from benchmarks.harness.versions import spark_machine
from benchmarks.inputs import events
from benchmarks.inputs.events import SCHEMA, Shape
from benchmarks.policies.keeping import Kept, keep
from benchmarks.streaming.views_falkirk import counted, named
from falkirk import lindi
from falkirk.connectors import Files
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.run import run as run_flow
from falkirk.runtime.session import start_session

EVENTS = 1_000
NOTHING, POSITIONS = "nothing is saved", "at_least_once()"
LAZY = "lazy(every=10)"
POLICIES: dict[str, fk.Policy] = {
    NOTHING: fk.at_least_once(),
    LAZY: fk.lazy(every=10),  # right behind and right before those that it is compared with
    POSITIONS: fk.at_least_once(),
    "lazy()": fk.lazy(),
    "eager()": fk.eager(),
    "history()": fk.history(),
    "batch() before at_least_once()": fk.at_least_once(),
}
LOGGED = "batch() before at_least_once()"
CLOSE = {NOTHING, POSITIONS, LAZY}
"""Who differ by less than a round scatters, and have more rounds."""

SELDOM = 6
"""The others are in every sixth round."""

Round = dict[str, float]
"""Seconds an epoch, by policy."""


class Seen:
    """A sink that only counts, and promises nothing."""

    exactly_once = False

    def __init__(self) -> None:
        """Nothing has come."""
        self.rows = 0

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Counts the rows of one time."""
        self.rows += batch.arrow().num_rows


def views(place: Path, name: str, sink: Seen) -> fk.Dataflow:
    """The flow of exactly-once, with the policy ``name`` where the state is."""
    flow = fk.Dataflow("policies")
    source = Files(place / "in", schema=SCHEMA, order="name")
    rows = lindi.rows(flow.read(source, name="events", limit=Limit(files=1)))
    joined = named(rows, place, policy=fk.batch() if name == LOGGED else None)
    counted(joined, POLICIES[name]).write(sink)
    return flow


def run(quick: bool) -> Report:
    """Runs all policies in turn in one warm session, and then one flow for a long time."""
    files, repetitions, epochs = (4, 1, 20) if quick else (400, 25, 1_000)
    settings = {**spark_machine(), **described(files, repetitions, epochs)}
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    session = start_session("policies")
    found: list[Round] = []
    try:
        events.make(place / "in", Shape(EVENTS), files)
        events.make_campaigns(place / "campaigns")
        one_round(session, place, list(POLICIES), files)  # warms up
        for repetition in range(repetitions):
            names = [p for p in POLICIES if p in CLOSE or repetition % SELDOM == 0]
            # Java gets faster all the time, and that should help all of them alike.
            found.append(one_round(session, place, names[:: -1 if repetition % 2 else 1], files))
        kept = keep(session, place / "long", fk.lazy(every=10), epochs)
    finally:
        session.stop()
        shutil.rmtree(place, ignore_errors=True)
    report = Report("Policies: what they cost and what they keep", settings)
    report.targets = targets(found, kept, epochs)
    report.tables = [costs(found), storage(kept)]
    report.figures = figures(found, kept)
    return report


def one_round(session: Any, place: Path, names: Sequence[str], files: int) -> Round:
    """Policies one after the other."""
    return {name: measured(session, place, name, files) for name in names}


def measured(session: Any, place: Path, name: str, files: int) -> float:
    """Seconds an epoch of one whole run."""
    store = Path(tempfile.mkdtemp(dir=place))
    sink = Seen()
    flow = views(place, name, sink)
    begun = time.monotonic()
    run_flow(flow, unsaved.UnsavedStore() if name == NOTHING else store, session)
    seconds = time.monotonic() - begun
    if sink.rows < files:
        raise RuntimeError(f"{name}: {sink.rows} rows for {files} epochs are too few")
    shutil.rmtree(store)
    return seconds / files


# What is shown.


def described(files: int, repetitions: int, epochs: int) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": f"the flow of exactly-once, {EVENTS:,} events a file, {files} files a run, one"
        " file an epoch, up to 4 epochs at once; a sink that only counts, at least once",
        NOTHING: f"the baseline: {unsaved.DESCRIBED}",
        POSITIONS: "the same on a store on the disk: the input's positions are durable",
        "all others": "the policy is that of the running count, the store is on the disk",
        "time": f"whole runs in one warm session, in turn, every other round backwards; in"
        f" {repetitions} rounds {', '.join(sorted(CLOSE))}, in every sixth of them all others",
        "storage": f"a running count of 200,000 keys, {epochs:,} epochs of 1,000 random keys each,"
        f" {LAZY}; the live state is what is left of all runs when they are merged into one file;"
        " the bytes of its batches are counted at every write and every deletion",
        "command": "python -m benchmarks policies",
    }


def targets(found: list[Round], kept: Kept, epochs: int) -> Table:
    """The floors."""
    table = Table("Targets", ["target", "measured", "met"])
    for base in (NOTHING, POSITIONS):
        costs = [(1 - 1 / ratio) * 100 for ratio in paired(found, LAZY, base)]
        low, high = quantile(costs, 0.25), quantile(costs, 0.75)
        measured = f"{median(costs):.1f} % (half of the rounds: {low:.1f} to {high:.1f} %)"
        goal = f"{LAZY} costs at most 5 % of throughput over {base!r}"
        table.rows.append([goal, measured, verdict(median(costs) <= 5)])
    goal = f"storage after {epochs:,} epochs within 2× of the live state"
    table.rows.append([goal, f"{kept.end / kept.live:.2f}×", verdict(kept.end <= 2 * kept.live)])
    most = kept.most / kept.live
    goal = "and so it stays at any moment of the second half"
    table.rows.append([goal, f"{most:.2f}×", verdict(most <= 2)])
    return table


def paired(found: list[Round], name: str, base: str) -> list[float]:
    """How much longer one takes than the other, round by round."""
    return [each[name] / each[base] for each in found if name in each]


def costs(found: list[Round]) -> Table:
    """Milliseconds an epoch."""
    table = Table(
        "Throughput",
        ["policy of the running count", "ms an epoch", "of the baseline, round by round"],
        note="Median, with the least and the greatest.",
    )
    for name in POLICIES:
        shown = spread([each[name] * 1e3 for each in found if name in each], "{:.0f}".format)
        table.rows.append([name, shown, spread(paired(found, name, NOTHING), "{:.2f}×".format)])
    return table


def storage(kept: Kept) -> Table:
    """Bytes in the store."""
    table = Table(
        "Storage",
        ["what", "bytes", "of the live state"],
        note=f"{kept.keys:,} keys are live. The data folder is at its largest when changes have"
        " been divided into pieces and are still there as they came.",
    )
    for what, size in [
        ("the live state, written once", kept.live),
        ("data folder at the end", kept.end),
        ("data folder in the second half, median", round(median(kept.later))),
        ("data folder in the second half, largest", kept.most),
        ("metadata (SQLite) at the end", kept.metadata),
    ]:
        table.rows.append([what, f"{size:,}", f"{size / kept.live:.2f}×"])
    return table


def figures(found: list[Round], kept: Kept) -> list[Figure]:
    """Costs as bars, and what is kept over the epochs."""
    over = {name: paired(found, name, NOTHING) for name in POLICIES if name != NOTHING}
    bars = {name: bar(each) for name, each in over.items()}
    sizes = [(float(epoch), size / 1e6) for epoch, size in kept.seen]
    live = [(sizes[0][0], kept.live / 1e6), (sizes[-1][0], kept.live / 1e6)] if sizes else []
    series = {"data folder": sizes, "live state at the end": live} if sizes else {}
    title = "What a running count of 200,000 keys keeps on the disk"
    return [
        Bars("cost", "An epoch", "× of an epoch with nothing saved", {"": bars}),
        Lines("storage", title, "epochs", "MB", series),
    ]
