"""The rollback solver and the monitor: fresh solves, single updates, memory, storms of failures."""

from collections.abc import Callable

from benchmarks.harness.measure import Timing, show_seconds, timed
from benchmarks.harness.plots import Lines
from benchmarks.harness.report import Report, Table, machine
from benchmarks.harness.spread import median, spread, verdict
from benchmarks.rollback import flows, memory, storm
from benchmarks.rollback.flows import LAST, LITERATURE
from benchmarks.rollback.updates import updates
from falkirk.core import Graph, Restorable, solve

SEED = 20_260
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
    report.tables.append(memory.table(quick))
    stormy = storm.plans(storm.QUICK_SIZES if quick else storm.SIZES, SEED)
    report.tables.append(storm.table(stormy))
    report.figures.append(figure(fresh, stormy))
    return report


Solves = dict[tuple[str, int, int], Timing]
"""By scenario, processors and edges."""


def fresh_solves(
    sizes: list[tuple[int, int]], report: Report, targets: Table, quick: bool
) -> Solves:
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
    found: Solves,
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


def figure(fresh: Solves, stormy: list[storm.Plans]) -> Lines:
    """Medians over the number of edges."""
    series: dict[str, list[tuple[float, float]]] = {}
    for (name, _, edges), timing in fresh.items():
        series.setdefault(name, []).append((float(edges), timing.median))
    name = "plan in a storm, one in a hundred failed"
    series[name] = [
        (float(each.edges), each.timing.median)
        for each in stormy
        if each.failed == each.processors // 100
    ]
    ordered = {name: sorted(points) for name, points in series.items()}
    return Lines("seconds", "Choosing frontiers", "edges", "s", ordered, log="xy")
