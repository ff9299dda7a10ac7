"""All contenders in turn, each time from scratch, and the report."""

import os
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.harness.archive import make_archive
from benchmarks.harness.report import Report
from benchmarks.harness.versions import spark_machine
from benchmarks.ysb.contenders import ROOT, Contender, contenders
from benchmarks.ysb.environments import Missing
from benchmarks.ysb.figures import figures
from benchmarks.ysb.measuring import measured
from benchmarks.ysb.outcome import Run
from benchmarks.ysb.plan import FULL, QUICK, Plan
from benchmarks.ysb.tables import described, tables
from benchmarks.ysb.worker import Died


def run(quick: bool) -> Report:
    """Runs everybody; who cannot take part is in the report, too."""
    plan = QUICK if quick else FULL
    # Who ends this benchmark ends what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    everybody = contenders()
    settings = {**spark_machine(), **described(plan, everybody)}
    found: dict[str, list[Run]] = defaultdict(list)
    failed: dict[str, str] = {}
    present = [each for each in everybody if is_present(each, failed)]
    make_archive()  # all on Spark start with it
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    try:
        for repetition in range(plan.repetitions):
            # Whatever else the machine does meanwhile should hit all of them alike.
            for each in present[::-1] if repetition % 2 else present:
                if each.name not in failed:
                    attempt(place, each, plan, found, failed)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    settings |= {each.name: each.version() for each in present if each.peer}
    report = Report("Yahoo streaming benchmark: falkirk and its peers", settings)
    report.tables = tables(everybody, found, failed, plan)
    report.figures = figures(everybody, found)
    return report


def is_present(contender: Contender, failed: dict[str, str]) -> bool:
    """Whether a contender is installed, or can be."""
    try:
        contender.command()
    except Missing as missing:
        failed[contender.name] = anonymous(str(missing))
        return False
    return True


def attempt(
    place: Path,
    contender: Contender,
    plan: Plan,
    found: dict[str, list[Run]],
    failed: dict[str, str],
) -> None:
    """One run; who fails does not take part any more, and the report says why."""
    begun = time.monotonic()
    try:
        found[contender.name].append(measured(place, contender, plan))
        said = "measured"
    except Died as died:
        failed[contender.name] = anonymous(str(died))
        said = "failed"
    print(f"{contender.name}: {said} in {time.monotonic() - begun:.0f} s", file=sys.stderr)


def anonymous(log: str) -> str:
    """A log without the places of this machine."""
    places = {str(ROOT): "…", str(Path.home()): "~", tempfile.gettempdir(): "…"}
    for folder, shown in places.items():
        log = log.replace(folder + os.sep, shown + "/")
    return log
