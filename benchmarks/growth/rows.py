"""From ten rows an epoch to ten million: what does an epoch cost, and a row?"""

from typing import Any

from benchmarks.harness.plots import Lines
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import median, spread
from benchmarks.inputs.draws import Shape
from benchmarks.policies.cell import Cell, Outcome, run_cell
from benchmarks.policies.flow import EAGER, NOTHING, SELDOM

KEYS = 1_000
ROWS = (10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
EPOCHS = {1_000_000: 10, 10_000_000: 4}
"""Fewer where each takes long."""

CHOSEN = (NOTHING, SELDOM, EAGER)


def add(report: Report, session: Any, quick: bool) -> None:
    """Runs the flow of the matrix for each size, the ways in turn."""
    sizes, repetitions = (ROWS[:4], 1) if quick else (ROWS, 3)
    report.settings["rows"] = (
        f"the flow of matrix with {KEYS:,} keys, four epochs at once; 20 epochs a run, 10 of a"
        f" million rows and 4 of ten million; {repetitions} rounds in turn"
    )
    table = Table(
        "Rows",
        ["rows an epoch", "policy of the count", "ms an epoch", "rows/s"],
        note="Median, with the least and the greatest.",
    )
    series: dict[str, list[tuple[float, float]]] = {way: [] for way in CHOSEN}
    for rows in sizes:
        found: dict[str, list[Outcome]] = {way: [] for way in CHOSEN}
        for repetition in range(repetitions):
            for way in CHOSEN[:: -1 if repetition % 2 else 1]:
                epochs = 5 if quick else EPOCHS.get(rows, 20)
                shape = Shape(rows, KEYS, seed=repetition)
                found[way].append(run_cell(session, Cell(way, shape, epochs)))
        for way, outcomes in found.items():
            ms = [each.ms for each in outcomes]
            series[way].append((float(rows), median(ms)))
            rates = spread([rows / each * 1e3 for each in ms], "{:,.0f}".format)
            table.rows.append([f"{rows:,}", way, spread(ms, "{:.0f}".format), rates])
    report.tables.append(table)
    report.figures.append(Lines("rows", "Time an epoch", "rows an epoch", "ms", series, log="xy"))
