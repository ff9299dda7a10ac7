"""The rollback solver and the monitor: fresh solves, single updates, memory, storms of failures."""

import subprocess
import sys
from collections.abc import Callable
from random import Random

from benchmarks import flows
from benchmarks.flows import LAST, Flow
from benchmarks.measure import Timing, each, show_seconds, timed
from benchmarks.report import Report, Table, machine
from falkirk.core import AnyFrontier, Completed, Graph, Monitor, Restorable, Saved, Update, solve

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
    targets = Table("Targets", ["target", "measured", "met"])
    report.targets = targets
    fresh = fresh_solves(sizes, report, targets, quick)
    updates(sizes, report, targets, quick, fresh)
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
        median = found[name, *LITERATURE].median
        goal = f"{name}: {LITERATURE[1]:,} edges in under 2 s (aim: under 1 s)"
        targets.rows.append([goal, show_seconds(median), verdict(median < 2)])
    smallest, largest = sizes[0], sizes[-1]
    growth = (found[name, *largest].best / largest[1]) / (found[name, *smallest].best / smallest[1])
    goal = f"{name}: time per edge from {smallest[1]:,} to {largest[1]:,} edges at most 2×"
    targets.rows.append([goal, f"{growth:.2f}×", verdict(growth <= 2)])


def verdict(met: bool) -> str:
    """A word for a target."""
    return "yes" if met else "**no**"


# One update.


def updates(
    sizes: list[tuple[int, int]],
    report: Report,
    targets: Table,
    quick: bool,
    fresh: dict[tuple[str, int, int], Timing],
) -> None:
    """Single updates in monitors of two sizes, both of degree 10."""
    small, large = sizes[0], sizes[-1]
    table = Table(
        "One update in the monitor",
        ["update", "processors", "best", "median", "mean", "worst", "watermarks raised (mean)"],
        note="Everyone is 0 to 4 steps ahead of a common low-watermark when measuring begins. Each"
        " row is up to 300 single updates. In `a whole step` all but one of the slowest save"
        " (at most 20,000), in random order. `slowest of a flow`: the graph consists of many flows"
        " with no edge between them; the slowest of each catches up, and its whole flow rises.",
    )
    medians: dict[tuple[str, int], float] = {}
    for processors, edges in (small, large):
        for name, timing, raised in _updates_at(processors, edges):
            medians[name, processors] = timing.median
            mean = sum(timing.seconds) / len(timing.seconds)
            shown = map(show_seconds, (timing.best, timing.median, mean, timing.worst))
            table.rows.append([name, f"{processors:,}", *shown, f"{raised:.1f}"])
    report.tables.append(table)
    whole = fresh["all failed", *large].best
    for name in dict.fromkeys(name for name, _ in medians):
        ratio = medians[name, large[0]] / medians[name, small[0]]
        goal = f"{name}: median the same within 2× at {small[0]:,} and {large[0]:,} processors"
        targets.rows.append([goal, f"{ratio:.2f}×", verdict(ratio <= 2)])
        cheaper = whole / medians[name, large[0]]
        goal = f"{name}: 1,000× less than a fresh solve at {large[0]:,} processors"
        targets.rows.append([goal, f"{cheaper:,.0f}×", verdict(cheaper >= 1000)])


def _updates_at(processors: int, edges: int) -> list[tuple[str, Timing, float]]:
    rng = Random(SEED)
    found = []
    flow = flows.mixed(processors, edges, SEED)
    steps = {p: LAST + rng.randint(0, 4) for p in flow.graph.domains}
    monitor = monitor_at(flow, steps)
    ahead = [p for p in flow.graph.domains if steps[p] > LAST]
    found.append(("ahead of others", *_measure(flow, monitor, steps, rng.sample(ahead, 300))))
    behind = [p for p in flow.graph.domains if steps[p] == LAST]
    found.append(("one of the slowest", *_measure(flow, monitor, steps, behind[:100])))
    rest = [p for p in flow.graph.domains if p not in behind[-1:]]
    rng.shuffle(rest)
    found.append(("a whole step", *_measure(flow, monitor, steps, rest[: 20 * 1000])))
    del monitor, flow
    for size, degree in ((10, 3), (100, 10)):
        flow = flows.separate(processors, SEED, size, degree)
        steps = {p: LAST + 1 + rng.randint(0, 3) for p in flow.graph.domains}
        names = list(flow.graph.domains)
        slowest = [rng.choice(names[i : i + size]) for i in range(0, processors, size)]
        steps.update(dict.fromkeys(slowest, LAST))
        monitor = monitor_at(flow, steps)
        measured = _measure(flow, monitor, steps, slowest[:300])
        found.append((f"slowest of a flow of {size}", *measured))
    return found


def monitor_at(flow: Flow, steps: dict[str, int]) -> Monitor:
    """A monitor that has heard of everything up to ``steps``, step by step."""
    stateless = {
        p: AnyFrontier(flow.graph.domains[p].empty)
        for p, policy in flow.policy.items()
        if policy == "any"
    }
    monitor = Monitor(flow.graph, stateless)
    for step in range(LAST - 1, LAST + 5):
        monitor.update([announce(flow, p, step) for p in flow.graph.domains if step <= steps[p]])
    return monitor


def announce(flow: Flow, p: str, step: int) -> Update:
    """What ``p`` tells when it has saved ``step``."""
    if flow.policy[p] == "any":
        return Completed(p, flow.frontier(p, step))
    return Saved(p, flow.checkpoint(p, step))


def _measure(
    flow: Flow, monitor: Monitor, steps: dict[str, int], chosen: list[str]
) -> tuple[Timing, float]:
    """Updates of ``chosen`` to their next steps; how many watermarks each raised on average."""
    raised = 0

    def call(update: Update) -> None:
        nonlocal raised
        raised += len(monitor.update([update]).watermarks)

    following = []
    for p in chosen:
        steps[p] += 1
        following.append(announce(flow, p, steps[p]))
    return each(call, following), raised / len(chosen)


# Memory, in processes of their own.

MEMORY = """
import sys
from benchmarks import flows, rollback
from benchmarks.measure import resident_bytes
from falkirk.core.fixpoint import Fixpoint
processors, edges = int(sys.argv[1]), int(sys.argv[2])
start = resident_bytes()
flow = flows.mixed(processors, edges, rollback.SEED)
graph = resident_bytes()
restorables = flows.saved(flow, dict.fromkeys(flow.graph.domains, flows.LAST), set())
saved = resident_bytes()
point = Fixpoint(flow.graph, restorables)
point.settle()
print(graph - start, saved - graph, resident_bytes() - saved)
"""


def memory(quick: bool) -> Table:
    """Resident memory at two densities, solved for bytes per processor and per edge."""
    table = Table(
        "Memory",
        ["what", "bytes/processor", "bytes/edge"],
        note="Resident memory of processes of their own at degrees 10 and 40, and the straight line"
        " through both. Checkpoints: five for each processor that keeps state.",
    )
    processors = 2_000 if quick else 10_000
    low, high = (
        list(
            map(
                int,
                subprocess.run(
                    [sys.executable, "-c", MEMORY, str(processors), str(processors * degree)],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.split(),
            )
        )
        for degree in (10, 40)
    )
    for what, less, more in zip(("graph", "checkpoints", "solver"), low, high, strict=True):
        per_edge = (more - less) / (30 * processors)
        per_processor = (less - 10 * processors * per_edge) / processors
        table.rows.append([what, f"{per_processor:,.0f}", f"{per_edge:,.0f}"])
    return table


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
            "rolled back (mean of 5)",
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
            rolled = sum(not f.is_top for s in solutions for f in s.frontiers.values())
            shown = map(show_seconds, (timing.best, timing.median, timing.worst))
            row = [f"{processors:,}", f"{edges:,}", f"{count:,}", str(plans), *shown]
            table.rows.append([*row, f"{rolled / len(solutions):,.0f}"])
    return table
