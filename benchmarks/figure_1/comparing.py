"""Both contenders in turn, each time from scratch, and the report."""

import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.figure_1.contenders import CONTENDERS
from benchmarks.figure_1.figures import figures
from benchmarks.figure_1.measuring import FULL, MASTER, QUICK, Wrong, measured
from benchmarks.figure_1.outcome import Run
from benchmarks.figure_1.tables import described, tables
from benchmarks.harness.archive import make_archive
from benchmarks.harness.report import Report
from benchmarks.harness.versions import spark_machine
from falkirk.core.errors import ExecutionError


def run(quick: bool) -> Report:
    """Runs both; a run that went wrong has no figures, and the report says why."""
    plan = QUICK if quick else FULL
    # Who ends this benchmark ends what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    machine = spark_machine()
    machine["Spark"] = machine["Spark"].replace("local[*]", MASTER)
    settings = {**machine, **described(plan)}
    make_archive()  # both start with it
    found: dict[str, list[Run]] = defaultdict(list)
    refused: list[str] = []
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    try:
        for repetition in range(plan.repetitions):
            # Whatever else the machine does meanwhile should hit both alike.
            turns = list(CONTENDERS.values())
            for each in turns[::-1] if repetition % 2 else turns:
                begun = time.monotonic()
                try:
                    found[each.name].append(measured(place, each, plan, repetition))
                except (Wrong, ExecutionError) as error:
                    refused.append(f"{each.name}: {error.args[0]}".replace(str(place), "…"))
                    print(refused[-1], file=sys.stderr)
                print(f"{each.name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if missing := [name for name in CONTENDERS if not found[name]]:
        raise RuntimeError(f"no run of {' and '.join(missing)} was right: {'; '.join(refused)}")
    report = Report("Figure 1's application beside a stop-the-world baseline", settings)
    report.tables = tables(found, refused)
    report.figures = figures(found)
    return report
