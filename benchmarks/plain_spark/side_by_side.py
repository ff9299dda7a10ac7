"""The same pipeline as a flow and written directly in PySpark, in turn and in one warm session."""

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from benchmarks.harness.plots import Bars, bar
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import ratio, ratios, spread, verdict
from benchmarks.harness.versions import spark_machine
from falkirk.runtime.session import start_session

Contender = Callable[[Any, Path, Path], None]
"""Reads from one folder and writes into another, in a session."""

Times = Mapping[str, list[float]]

AT_MOST = 1.05

TURNS = 17
"""Times each: pairs scatter by a fifth on a shared machine, and the middle of nine by 5 %."""


class BySpark:
    """A sink that has Spark write the rows of a time; at least once, so that nothing is staged."""

    exactly_once = False

    def __init__(self, path: Path) -> None:
        """Writes folders into ``path``."""
        self.path = path

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Writes one time."""
        batch.frame.write.mode("overwrite").parquet(str(self.path / f"epoch={time[0]}"))


def compare(
    title: str,
    work: str,
    prepare: Callable[[Path], tuple[int, int]],
    contenders: Mapping[str, Contender],
    repetitions: int,
) -> Report:
    """``prepare`` fills a folder, and says how many rows there are and how many come out."""
    name = title.split(":")[0].lower()
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    session = start_session(name)
    try:
        rows, results = prepare(place)
        found = in_turn(session, contenders, place, results, repetitions)
    finally:
        session.stop()
        shutil.rmtree(place, ignore_errors=True)
    report = Report(title, {**spark_machine(), **described(name, work, repetitions)})
    report.targets, report.tables = targets(found), [times(found, rows)]
    bars = {name: bar(seconds) for name, seconds in found.items()}
    report.figures = [Bars("seconds", "From files to files", "s", {"seconds": bars})]
    return report


def in_turn(
    session: Any, contenders: Mapping[str, Contender], place: Path, results: int, repetitions: int
) -> Times:
    """Runs all of them, one after the other and in changing order; the first time warms up."""
    found: dict[str, list[float]] = defaultdict(list)
    for repetition in range(repetitions + 1):
        names = list(contenders)
        for name in names[::-1] if repetition % 2 else names:
            target = Path(tempfile.mkdtemp(dir=place))
            begun = time.monotonic()
            contenders[name](session, place, target)
            seconds = time.monotonic() - begun
            check(target / "out", results)
            shutil.rmtree(target)
            if repetition:
                found[name].append(seconds)
    return found


def check(folder: Path, rows: int) -> None:
    """Sees that all rows are there."""
    found = ds.dataset(folder, partitioning="hive").count_rows()
    if found != rows:
        raise RuntimeError(f"{found:,} rows were written instead of {rows:,}")


def described(name: str, work: str, repetitions: int) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": work,
        "the flow": "one epoch; ephemeral operators and a sink that stages nothing (at least once);"
        " the whole of fk.run is in the time: opening the store, saving the input's position",
        "time": f"one session, warm; {repetitions} times each, in turn",
        "command": f"python -m benchmarks {name}",
    }


def targets(found: Times) -> Table:
    """The floor."""
    both = found["falkirk"], found["PySpark"]
    pairs = spread(ratios(*both), "{:.3f}×".format)
    measured, met = f"{ratio(*both):.3f}×; pair by pair: {pairs}", ratio(*both) <= AT_MOST
    note = "The ratio of the medians, and of each pair: median, with the least and the greatest."
    table = Table("Targets", ["target", "measured", "met"], note=note)
    table.rows.append([f"at most {AT_MOST}× of PySpark", measured, verdict(met)])
    return table


def times(found: Times, rows: int) -> Table:
    """Seconds and rows a second."""
    table = Table("From files to files", ["contender", "seconds", "rows/s"])
    for name, seconds in found.items():
        rates = [rows / each for each in seconds]
        row = [name, spread(seconds, "{:.2f}".format), spread(rates, "{:,.0f}".format)]
        table.rows.append(row)
    return table
