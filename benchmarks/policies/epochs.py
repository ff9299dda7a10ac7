"""What an epoch takes, by policy: jobs, calls to Spark, writes, transactions, milliseconds."""

from collections import defaultdict

from benchmarks.harness.plots import Bar, Bars, bar
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import if_apart, spread
from benchmarks.harness.versions import spark_machine
from benchmarks.inputs.draws import Shape
from benchmarks.policies.cell import Cell, Outcome, run_cell
from benchmarks.policies.flow import WAYS
from falkirk.runtime.session import start_session

ALONE_SECONDS = 0.2
"""So far apart each epoch comes alone, and nothing of it is shared with another."""


def run(quick: bool) -> Report:
    """Runs every way in turn, epochs as fast as they go and one at a time."""
    epochs, repetitions = (5, 1) if quick else (40, 3)
    settings = {**spark_machine(), **described(epochs, repetitions)}
    session = start_session("epochs")
    found: dict[tuple[str, float | None], list[Outcome]] = defaultdict(list)
    try:
        for repetition in range(-1, repetitions):
            for way in list(WAYS)[:: -1 if repetition % 2 else 1]:
                for seconds in (None, ALONE_SECONDS) if repetition >= 0 else (None,):
                    shape = Shape(seed=repetition)
                    count = epochs if seconds is None else max(3, epochs // 4)
                    outcome = run_cell(session, Cell(way, shape, count, seconds))
                    if repetition >= 0:  # the first round warms up
                        found[way, seconds].append(outcome)
    finally:
        session.stop()
    report = Report("Epochs: what one takes, by policy", settings)
    report.tables = [counts(found, None), counts(found, ALONE_SECONDS), times(found)]
    report.figures = [figure(found)]
    return report


def described(epochs: int, repetitions: int) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": "the flow of matrix at its centre: 1,000 rows an epoch, counted by 10,000 keys;"
        " one step before the count that Spark fuses with it",
        "calls to Spark": "commands from Python to Spark's JVM, those that let go of objects too",
        "driver": "processor time of the thread that owns the machine; Python: of all threads",
        "time": f"{epochs} epochs a run as fast as they go, and {epochs // 4} that come one every"
        f" {ALONE_SECONDS} s; one warm session, {repetitions} rounds in changing order",
        "command": "python -m benchmarks epochs",
    }


def counts(found: dict[tuple[str, float | None], list[Outcome]], seconds: float | None) -> Table:
    """What can be counted."""
    title = "Four epochs at once" if seconds is None else "Epochs that come alone"
    heads = ["policy of the count", "jobs", "calls to Spark", "batches", "bytes", "transactions"]
    note = "Medians of the rounds, with the least and the greatest where they differ."
    table = Table(f"{title}: counts an epoch", heads, note=note)
    for (way, pace), outcomes in found.items():
        if pace == seconds:
            each = [(o.jobs, o.calls, o.batches, o.bytes, o.commits, o.epochs) for o in outcomes]
            values = [[row[i] / row[-1] for row in each] for i in range(5)]
            table.rows.append([way, *(if_apart(value, short) for value in values)])
    return table


def short(value: float) -> str:
    """No more places than anybody reads."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def times(found: dict[tuple[str, float | None], list[Outcome]]) -> Table:
    """Milliseconds an epoch."""
    table = Table(
        "Four epochs at once: milliseconds an epoch",
        ["policy of the count", "in all", "driver", "Python"],
        note="Median, with the least and the greatest.",
    )
    for (way, pace), outcomes in found.items():
        if pace is None:
            row = [way, spread([o.ms for o in outcomes], "{:.1f}".format)]
            for of in ("driver_seconds", "python_seconds"):
                values = [getattr(o, of) / o.epochs * 1e3 for o in outcomes]
                row.append(spread(values, "{:.1f}".format))
            table.rows.append(row)
    return table


def figure(found: dict[tuple[str, float | None], list[Outcome]]) -> Bars:
    """Milliseconds as bars."""
    series: dict[str, dict[str, Bar]] = {}
    for label, of in (("in all", "seconds"), ("Python", "python_seconds")):
        for (way, pace), outcomes in found.items():
            if pace is None:
                values = [getattr(o, of) / o.epochs * 1e3 for o in outcomes]
                series.setdefault(label, {})[way] = bar(values)
    return Bars("milliseconds", "An epoch, four at once", "ms", series)
