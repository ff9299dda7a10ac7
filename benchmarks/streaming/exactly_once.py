"""falkirk against Spark Structured Streaming: the same work, the same guarantee, the same files."""

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.plots import Bar, Bars, bar
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import ends, median, quantile, ratio, spread, times, verdict
from benchmarks.harness.versions import spark_machine
from benchmarks.inputs import events
from benchmarks.inputs.events import Shape
from benchmarks.streaming.outside import Program

STREAMING, BY_ARROW = "Structured Streaming", "Structured Streaming, Arrow sink"
EAGER, TENTH = "falkirk eager()", "falkirk lazy(every=10)"
CONTENDERS = {
    STREAMING: ["benchmarks.streaming.views_streaming"],
    BY_ARROW: ["benchmarks.streaming.views_streaming", "--arrow"],
    EAGER: ["benchmarks.streaming.views_falkirk", "eager"],
    TENTH: ["benchmarks.streaming.views_falkirk", "lazy-10"],
}
PAUSE_SECONDS = 0.05
"""Between a result and the next file, where latency is measured."""


@dataclass(frozen=True)
class Plan:
    """How many files are read to warm up, for throughput, and one by one for latency.

    The first two are whole tens: a contender saves at every tenth. After 140 files the JVM still
    compiles for longer than an epoch takes; a stream that runs for days does not.
    """

    warm: int
    backlog: int
    single: int
    repetitions: int

    @property
    def files(self) -> int:
        """All files of one run."""
        return self.warm + self.backlog + self.single


@dataclass(frozen=True)
class Run:
    """Seconds of one run: for the whole backlog, and for each file that came alone."""

    backlog: float
    single: tuple[float, ...]


FULL, QUICK = Plan(180, 40, 20, 3), Plan(10, 10, 2, 1)
Found = dict[tuple[str, int], list[Run]]


def run(quick: bool) -> Report:
    """Runs all contenders in turn, each time in a fresh JVM."""
    plan, sizes = (QUICK, (1_000,)) if quick else (FULL, (1_000, 100_000))
    names = [STREAMING, EAGER] if quick else list(CONTENDERS)
    settings = {**spark_machine(), **described(plan)}
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    found: Found = defaultdict(list)
    try:
        for size in sizes:
            events.make(place / str(size), Shape(size), plan.files)
        for repetition in range(plan.repetitions):
            # Whatever else the machine does meanwhile should hit all of them alike.
            for size in sizes:
                for name in names[::-1] if repetition % 2 else names:
                    found[name, size].append(measured(place, name, size, plan))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    report = Report("Exactly once: falkirk and Structured Streaming", settings)
    report.targets = targets(found, sizes)
    report.tables = [throughput(found, sizes, plan), latency(found, sizes)]
    report.figures = figures(found, plan)
    return report


def measured(place: Path, name: str, size: int, plan: Plan) -> Run:
    """One run of one contender; its results are checked."""
    files = events.make(place / str(size), Shape(size), plan.files)
    folder = Path(tempfile.mkdtemp(dir=place))
    events.make_campaigns(folder / "campaigns")
    program = Program(folder, CONTENDERS[name])
    program.start()
    try:
        program.feed(files[: plan.warm])
        program.await_epoch(plan.warm - 1)
        begun = program.feed(files[plan.warm : plan.warm + plan.backlog])
        backlog = program.await_epoch(plan.warm + plan.backlog - 1) - begun
        single = []
        # Every tenth time makes the nine before it visible, so one alone would wait for ever.
        for number in range(plan.warm + plan.backlog, 0 if name == TENTH else plan.files):
            time.sleep(PAUSE_SECONDS)
            begun = program.feed([files[number]])
            single.append(program.await_epoch(number) - begun)
    finally:
        program.kill()
    right = events.expected(files[: program.fed])
    if events.shown(folder / "out") != right:
        raise RuntimeError(f"{name} with {size:,} events a file: the counts are wrong")
    shutil.rmtree(folder)
    return Run(backlog, tuple(single))


# What is shown.


def described(plan: Plan) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": f"views of {events.CAMPAIGNS} campaigns in windows of {events.WINDOW_SECONDS} s"
        " after the Yahoo streaming benchmark: filter, join with a static table of 1,000"
        " rows on the driver (broadcast), running count in update mode; one Parquet file of"
        " events a batch",
        "sink": "one Parquet folder a batch under its number: written, forced to the disk, renamed,"
        " passed over if it is there",
        "Structured Streaming": "checkpoint and state store (its default) on the same disk,"
        " maxFilesPerTrigger 1, no trigger interval, foreachBatch; Spark writes the Parquet"
        " (as users do), or Arrow on the driver does (as falkirk's sink does)",
        "falkirk's side": "store in a folder (SQLite and Parquet) on the same disk; default"
        " options, so up to 4 epochs at once; files of up to 256 KiB are read on the driver"
        " (driver_bytes_max), which concerns those with 1,000 events",
        "both": "the same session settings (adaptive execution off, as many shuffle partitions as"
        " cores), a fresh JVM each time, contenders in turn; seen from outside, by another process",
        "a run": f"{plan.warm} files to warm up, {plan.backlog} at once for throughput,"
        f" {plan.single} one by one for latency; {plan.repetitions} runs each, and the counts of"
        " every run are checked",
        "command": "python -m benchmarks exactly-once",
    }


def targets(found: Found, sizes: tuple[int, ...]) -> Table:
    """The floors, each for the variants that it can be asked of."""
    note = "Ratios of the medians of the runs, with the least and the greatest of a round."
    table = Table("Targets", ["target", "measured", "met"], note=note)
    for size in sizes:
        floor = 3 if size <= 1_000 else 2
        for rival in (STREAMING, BY_ARROW):
            for name in (EAGER, TENTH):
                if (rival, size) in found and (name, size) in found:
                    both = backlogs(found, rival, size), backlogs(found, name, size)
                    goal = f"{name}, {size:,} events: {floor}× the throughput of {rival}"
                    table.rows.append([goal, times(*both), verdict(ratio(*both) >= floor)])
            if (rival, size) in found:
                both = delays(found, EAGER, size), delays(found, rival, size)
                goal = f"{EAGER}, {size:,} events: at most half the latency of {rival}"
                table.rows.append([goal, times(*both), verdict(ratio(*both) <= 0.5)])
    return table


def backlogs(found: Found, name: str, size: int) -> list[float]:
    """Seconds for a backlog, in each run."""
    return [each.backlog for each in found[name, size]]


def delays(found: Found, name: str, size: int) -> list[float]:
    """Seconds for a file alone, the middle one of each run."""
    return [median(each.single) for each in found[name, size]]


def throughput(found: Found, sizes: tuple[int, ...], plan: Plan) -> Table:
    """Events a second in steady state."""
    table = Table(
        "Throughput",
        ["contender", "events a file", "events/s", "ms a file"],
        note="From the moment when the files of a backlog are visible until the last result is."
        " Median of all runs, with the lowest and the highest.",
    )
    for size in sizes:
        for name in CONTENDERS:
            if runs := found.get((name, size)):
                rates = [plan.backlog * size / each.backlog for each in runs]
                costs = [each.backlog / plan.backlog * 1e3 for each in runs]
                row = [name, f"{size:,}", spread(rates, "{:,.0f}".format)]
                table.rows.append([*row, spread(costs, "{:.0f}".format)])
    return table


def latency(found: Found, sizes: tuple[int, ...]) -> Table:
    """From a file that is visible to its result."""
    table = Table(
        "Latency of one batch at a time",
        ["contender", "events a file", "median ms", "90 % ms"],
        note="From the moment when a file is visible until its result is; the next file comes"
        f" {PAUSE_SECONDS * 1e3:.0f} ms later; over all files of all runs, with the least and the"
        " greatest of the runs. lazy(every=10) shows results in tens by design, so it has no row.",
    )
    for size in sizes:
        for name in CONTENDERS:
            runs = [each.single for each in found.get((name, size), []) if each.single]
            if runs:
                table.rows.append([name, f"{size:,}", *delay_cells(runs)])
    return table


def figures(found: Found, plan: Plan) -> list[Bars]:
    """What a file of a backlog takes, and one alone, by how many events there are in it."""
    costs = dict[str, dict[str, Bar]]()
    delayed = dict[str, dict[str, Bar]]()
    for (name, size), runs in sorted(found.items(), key=lambda item: item[0][1]):
        events_each = f"{size:,} events"
        in_all = [each / plan.backlog * 1e3 for each in backlogs(found, name, size)]
        costs.setdefault(events_each, {})[name] = bar(in_all)
        if all(each.single for each in runs):
            alone = [each * 1e3 for each in delays(found, name, size)]
            middle = median([second * 1e3 for each in runs for second in each.single])
            delayed.setdefault(events_each, {})[name] = middle, min(alone), max(alone)
    return [
        Bars("throughput", "A file of a backlog", "ms", costs),
        Bars("latency", "A file alone, until its result is visible", "ms", delayed),
    ]


def delay_cells(runs: list[tuple[float, ...]]) -> list[str]:
    """The median and what one file in ten exceeds, of all and of each run, in milliseconds."""

    def late(values: Sequence[float]) -> float:
        return quantile(values, 0.9)

    cells = []
    for measure in (median, late):
        whole = measure([second * 1e3 for each in runs for second in each])
        each_run = [measure(each) * 1e3 for each in runs]
        cells.append(f"{whole:.0f} {ends(each_run, '{:.0f}'.format)}")
    return cells
