"""Policies by interval, rate, skew and failure on one flow, in the manner of CheckMate.

Not the whole product: one setting is the centre, and from there one thing at a time is changed.
After CheckMate: Evaluating Checkpointing Protocols for Streaming Dataflows (arXiv 2403.13629).
"""

import os
import shutil
import tempfile
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.harness import unsaved
from benchmarks.harness.archive import make_archive
from benchmarks.harness.report import Report
from benchmarks.harness.versions import spark_machine
from benchmarks.inputs import events
from benchmarks.inputs.draws import HOT, ZIPF, Shape
from benchmarks.policies import tables
from benchmarks.policies.cell import Cell, Outcome, run_cell
from benchmarks.policies.flow import EAGER, HISTORY, LAZY, LOOSE, NOTHING, SELDOM, WAYS
from benchmarks.streaming import recovery
from falkirk.runtime.java import find_java_home
from falkirk.runtime.session import start_session

CENTRE = Shape()
MANY = Shape(rows=100_000)
SOME = (NOTHING, SELDOM, LAZY, EAGER, HISTORY)
FEW = (NOTHING, SELDOM, EAGER)
FAILING = (SELDOM, LAZY, EAGER)
SKEWS = (ZIPF, HOT)
OFTEN, RARELY = 0.2, 0.4
"""Seconds from one epoch to the next, in the runs that go by the clock."""

KILLED = {"lazy-10": SELDOM, "lazy": LAZY, "eager": EAGER, "history": HISTORY}


class Effort(NamedTuple):
    """How many epochs a run has, and how many rounds of runs there are."""

    epochs: int
    rounds: int


Key = tuple[str, Shape, float | None]
Found = dict[Key, list[Outcome]]


def free_cells(epochs: int) -> list[Cell]:
    """As fast as it goes: all ways at the centre, then more rows, other skews, and both."""
    half = max(2, epochs // 2)
    cells = [Cell(way, CENTRE, epochs) for way in WAYS]
    cells += [Cell(way, MANY, half) for way in SOME]
    cells += [Cell(way, Shape(skew=skew), epochs) for skew in SKEWS for way in FEW]
    cells += [Cell(way, Shape(rows=MANY.rows, skew=skew), half) for skew in SKEWS for way in FEW]
    return cells


def timed_cells(epochs: int) -> list[Cell]:
    """By the clock: all ways at the centre, then a lower rate, more rows and other skews."""
    ways = [way for way in WAYS if way != NOTHING]
    cells = [Cell(way, CENTRE, epochs, OFTEN) for way in ways]
    cells += [Cell(way, CENTRE, epochs // 2, RARELY) for way in (LOOSE, SELDOM, EAGER)]
    cells += [Cell(way, MANY, epochs // 2, RARELY) for way in FAILING]
    cells += [Cell(way, Shape(skew=skew), epochs, OFTEN) for skew in SKEWS for way in FAILING]
    return cells


def run(quick: bool) -> Report:
    """Runs all cells in turn in one warm session, and then kills a few programs."""
    free, timed = (Effort(6, 1), Effort(6, 1)) if quick else (Effort(150, 5), Effort(40, 3))
    settings = {**spark_machine(), **described(free, timed)}
    session = start_session("matrix")
    try:
        if not quick:
            for way in WAYS:
                run_cell(session, Cell(way, CENTRE, 10))
        found = measured(session, free, timed)
    finally:
        session.stop()
    if not quick:
        make_archive()
    killed = kills(1 if quick else 3, ["eager"] if quick else list(KILLED))
    report = Report("Policies by interval, rate, skew and failure", settings)
    report.tables = [*tables.tables(found), tables.kills(killed)]
    report.figures = tables.figures(found)
    report.facts = {**origin(settings), "ways": tables.facts(found, CENTRE, OFTEN)}
    return report


def measured(session: Any, free: Effort, timed: Effort) -> Found:
    """All cells, in changing order; those by the clock fail once, all of a round at one moment."""
    found: Found = defaultdict(list)
    for repetition in range(max(free.rounds, timed.rounds)):
        cells = free_cells(free.epochs) if repetition < free.rounds else []
        cells += timed_cells(timed.epochs) if repetition < timed.rounds else []
        for cell in cells[::-1] if repetition % 2 else cells:
            part = Random(repetition).uniform(0.45, 0.75)
            at = None if cell.seconds is None else int(cell.epochs * part)
            shape = Shape(cell.shape.rows, cell.shape.keys, cell.shape.skew, seed=repetition)
            outcome = run_cell(session, Cell(cell.way, shape, cell.epochs, cell.seconds, at))
            found[cell.way, cell.shape, cell.seconds].append(outcome)
    return found


def kills(repetitions: int, names: list[str]) -> dict[str, list[float]]:
    """Seconds from the start of a second process to its first new result, after SIGKILL."""
    os.environ.setdefault("JAVA_HOME", str(find_java_home()))
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    found: dict[str, list[float]] = defaultdict(list)
    try:
        # A multiple of ten: what lazy(every=10) has not saved is not shown.
        count = -(-(recovery.BEFORE + recovery.AFTER) // 10) * 10
        files = events.make(place / "files", events.Shape(recovery.EVENTS), count)
        for repetition in range(repetitions):
            for name in names[::-1] if repetition % 2 else names:
                program = ["benchmarks.streaming.views_falkirk", name]
                contender = recovery.Contender(KILLED[name], recovery.AS_STARTED, program)
                found[KILLED[name]].append(recovery.measured(place, contender, files))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return dict(found)


def origin(settings: dict[str, str]) -> dict[str, str]:
    """Where facts come from."""
    return {
        "falkirk": settings["falkirk"],
        "spark": settings["Spark"].partition(",")[0],
        "machine": settings["system"],
        "date": datetime.now(UTC).date().isoformat(),
        "work": f"a running count by key, {CENTRE.rows:,} rows an epoch, {CENTRE.keys:,} keys",
    }


def described(free: Effort, timed: Effort) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": f"a running count by key; the centre is {CENTRE.rows:,} rows an epoch and"
        f" {CENTRE.keys:,} keys that are equally likely",
        "chosen beforehand": "all policies at the centre, as fast as it goes and by the clock;"
        f" from there, for some policies each: {MANY.rows:,} rows, keys by Zipf's law (exponent 1),"
        f" one key with nine rows in ten, both at once, an epoch every {RARELY} s instead of"
        f" {OFTEN} s; who runs by the clock fails",
        NOTHING: f"the baseline: {unsaved.DESCRIBED}; and a sink that promises nothing",
        LOOSE: "the same with a store on the disk; all others have an exactly-once sink, whose"
        " rows are staged in the store",
        "numbered": "the count by sequence numbers, message by message, and windows of one message"
        " behind it: where snapshot() applies",
        "latency": "from when an epoch was there by the clock until the sink was handed its counts",
        "failure": "the count loses all that it holds, at a random moment that is the same for all"
        " policies of a round; who goes back is decided while the others go on",
        "counts": "checked at the end of every run: exact, but where at_least_once() has lost its"
        " state; there it is told by how much they are off",
        "time": f"as fast as it goes, {free.rounds} rounds with {free.epochs} epochs a run; by the"
        f" clock, {timed.rounds} rounds with {timed.epochs}; half with many rows or by a slow"
        " clock; one warm session, in changing order, another seed each round",
        "command": "python -m benchmarks matrix",
    }
