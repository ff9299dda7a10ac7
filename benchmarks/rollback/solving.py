"""The rollback solver and the monitor: fresh solves, single updates, memory, storms of failures."""

import subprocess
import sys
from collections.abc import Callable
from random import Random

from benchmarks.harness.measure import Timing, each, show_seconds, timed
from benchmarks.harness.report import Report, Table, machine
from benchmarks.harness.spread import median, spread, verdict
from benchmarks.rollback import flows
from benchmarks.rollback.flows import LAST
from benchmarks.rollback.updates import monitor_at, updates
from falkirk.core import Graph, Restorable, solve

SEED = 20_260
LITERATURE = (8_896, 425_681)
"""The largest graph in the literature for this computation; plots there reach 4 s."""
SIZES = [(1_000, 10_000), (1_000, 47_850), LITERATURE, (30_000, 300_000), (100_000, 1_000_000)]
QUICK_SIZES = [(1_000, 10_000), (1_000, 47_850), (10_000, 100_000)]
SCENARIOS: dict[str, Callable[[int, int, int], tuple[Graph, dict[str, Restorable]]]] = {
    "all failed": flows.all_failed,
    "one region failed": flows.region_failed,
    "all collapse to ∅": flows.collapse,
}


def run(quick: bool) -> Report:
    """Measures everything; ``quick`` leaves out the large sizes."""
    settings = {
        **machine(),
        "time": "processor time of one process; the garbage collector is on",
        "seed": str(SEED),
        "graphs": f"each edge leads from a random processor to one of the next {flows.REACH}",
        "all failed": "epochs, loops and sequence numbers; stateless, logging and discarding"
        f" processors; 5 to 9 checkpoints each, the newest of steps {LAST} to {LAST + 4}",
        "one region failed": "the same, but 95 % live and may keep ⊤; walls of loggers between",
        "all collapse to ∅": "epochs; 30 % stateless, 30 % log, 40 % discard; 6 random checkpoints",
    }
    report = Report("Rollback: the solver and the monitor", settings)
    sizes = QUICK_SIZES if quick else SIZES
    targets = Table(
        "Targets",
        ["target", "measured", "met"],
        note="Medians, with the least and the greatest. Time per edge is that of the best"
        " repetitions; beside it all repetitions on the large graph over the median on the small"
        " one. Of updates, the medians of rounds on the small and the large graph in turn.",
    )
    report.targets = targets
    fresh = fresh_solves(sizes, report, targets, quick)
    small, large = sizes[0], sizes[-1]
    report.tables.append(updates(small, large, SEED, targets, fresh["all failed", *large].best))
    report.tables.append(memory(quick))
    report.tables.append(storm(quick))
    return report


# From scratch.


def fresh_solves(
    sizes: list[tuple[int, int]], report: Report, targets: Table, quick: bool
) -> dict[tuple[str, int, int], Timing]:
    """Fresh solves of every scenario at every size."""
    table = Table(
        "A fresh solve",
        ["scenario", "processors", "edges", "best", "median", "worst", "µs/edge", "at ∅", "at ⊤"],
        note="Graph and checkpoints are built beforehand. Best, median and worst of 30"
        " repetitions on small graphs and 5 on large ones; µs/edge is of the best.",
    )
    found = {}
    for name, make in SCENARIOS.items():
        for processors, edges in sizes:
            graph, restorables = make(processors, edges, SEED)
            repetitions = 30 if edges < 50_000 else 5
            timing = timed(lambda g=graph, r=restorables: solve(g, r), repetitions)
            found[name, processors, edges] = timing
            chosen = solve(graph, restorables).frontiers.values()
            table.rows.append(
                [
                    name,
                    f"{processors:,}",
                    f"{edges:,}",
                    *map(show_seconds, (timing.best, timing.median, timing.worst)),
                    f"{timing.best / edges * 1e6:.2f}",
                    f"{sum(f.is_empty for f in chosen):,}",
                    f"{sum(f.is_top for f in chosen):,}",
                ]
            )
            del graph, restorables, chosen
    report.tables.append(table)
    for name in SCENARIOS:
        _fresh_targets(name, sizes, found, targets)
    return found


def _fresh_targets(
    name: str,
    sizes: list[tuple[int, int]],
    found: dict[tuple[str, int, int], Timing],
    targets: Table,
) -> None:
    if LITERATURE in sizes:
        seconds = found[name, *LITERATURE].seconds
        goal = f"{name}: {LITERATURE[1]:,} edges in under 2 s (aim: under 1 s)"
        targets.rows.append([goal, spread(seconds, show_seconds), verdict(median(seconds) < 2)])
    smallest, largest = sizes[0], sizes[-1]
    few, many = found[name, *smallest], found[name, *largest]
    growth = (many.best / largest[1]) / (few.best / smallest[1])
    each_time = [second / largest[1] / (few.median / smallest[1]) for second in many.seconds]
    goal = f"{name}: time per edge from {smallest[1]:,} to {largest[1]:,} edges at most 2×"
    shown = f"{growth:.2f}×, medians {spread(each_time, '{:.2f}×'.format)}"
    targets.rows.append([goal, shown, verdict(growth <= 2)])


# Memory, in processes of their own.

MEMORY = """
import sys
from benchmarks.harness.measure import resident_bytes
from benchmarks.rollback import flows
from benchmarks.rollback.solving import SEED
from falkirk.core.fixpoint import Fixpoint
processors, edges = int(sys.argv[1]), int(sys.argv[2])
start = resident_bytes()
flow = flows.mixed(processors, edges, SEED)
graph = resident_bytes()
restorables = flows.saved(flow, dict.fromkeys(flow.graph.domains, flows.LAST), set())
saved = resident_bytes()
point = Fixpoint(flow.graph, restorables)
point.settle()
print(graph - start, saved - graph, resident_bytes() - saved)
"""


def memory(quick: bool) -> Table:
    """Resident memory at two densities, solved for bytes per processor and per edge."""
    processors, rounds = (2_000, 1) if quick else (10_000, 3)
    table = Table(
        "Memory",
        ["what", "bytes/processor", "bytes/edge"],
        note="Resident memory of processes of their own at degrees 10 and 40, and the straight line"
        " through both. Checkpoints: five for each processor that keeps state. Processes of"
        f" each: {rounds}, in turn; median, with the least and the greatest.",
    )
    found = [[resident(processors, degree) for degree in (10, 40)] for _ in range(rounds)]
    for number, what in enumerate(("graph", "checkpoints", "solver")):
        per_edge, per_processor = [], []
        for low, high in found:
            per_edge.append((high[number] - low[number]) / (30 * processors))
            per_processor.append(low[number] / processors - 10 * per_edge[-1])
        cells = (spread(values, "{:,.0f}".format) for values in (per_processor, per_edge))
        table.rows.append([what, *cells])
    return table


def resident(processors: int, degree: int) -> list[int]:
    """Bytes of the graph, the checkpoints and the solver, in a process of their own."""
    command = [sys.executable, "-c", MEMORY, str(processors), str(processors * degree)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return list(map(int, told.split()))


# Failures in quick succession.


def storm(quick: bool) -> Table:
    """Many rollback plans with random failed sets, asked of one monitor."""
    table = Table(
        "A storm of failures",
        [
            "processors",
            "edges",
            "failed",
            "plans",
            "best",
            "median",
            "worst",
            "rolled back, of 5",
        ],
        note="Each plan is a fresh solve with what live processors have done so far offered as ⊤,"
        " and the reasons for everyone who must roll back.",
    )
    sizes = [(1_000, 10_000)] if quick else [(1_000, 10_000), (10_000, 100_000)]
    for processors, edges in sizes:
        rng = Random(SEED)
        flow = flows.mixed(processors, edges, SEED)
        names = list(flow.graph.domains)
        for i, p in enumerate(names):
            if i // flows.REACH % 5 == 4:
                flow.policy[p] = "logs"
        monitor = monitor_at(flow, {p: LAST + rng.randint(0, 4) for p in names})
        live = {
            p: flow.checkpoint(p, LAST + 5, live=True) for p in names if flow.policy[p] != "any"
        }
        for count in (1, processors // 100, processors // 10):
            plans = 50 if processors == 1_000 else 10
            storms = [rng.sample(names, count) for _ in range(plans)]
            timing = each(lambda f, m=monitor, x=live: m.rollback_plan(f, x), storms)
            solutions = [monitor.rollback_plan(failed, live) for failed in storms[:5]]
            rolled = [sum(not f.is_top for f in s.frontiers.values()) for s in solutions]
            shown = map(show_seconds, (timing.best, timing.median, timing.worst))
            row = [f"{processors:,}", f"{edges:,}", f"{count:,}", str(plans), *shown]
            table.rows.append([*row, spread(rolled, "{:,.0f}".format)])
    return table
