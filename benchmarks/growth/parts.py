"""How costs grow: with epochs, with the keys of a state, with rows an epoch, with processors."""

from typing import Any

from benchmarks.growth import epochs, keys, processors, rows
from benchmarks.harness.report import Report, Table
from benchmarks.harness.versions import spark_machine
from falkirk.runtime.session import start_session

PARTS = (epochs, keys, rows, processors)


def run(quick: bool) -> Report:
    """Runs all four parts, one after the other, in one session."""
    report = Report("Growth: epochs, keys, rows and processors", spark_machine())
    report.targets = Table("Targets", ["target", "measured", "met"])
    session: Any = start_session("growth")
    try:
        for part in PARTS:
            part.add(report, session, quick)
    finally:
        session.stop()
    report.settings["command"] = "python -m benchmarks growth"
    return report
