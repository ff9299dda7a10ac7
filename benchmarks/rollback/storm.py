"""A storm of failures: plan after plan, with random failed sets, asked of one monitor."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from benchmarks.harness.measure import Timing, each, show_seconds
from benchmarks.harness.report import Table
from benchmarks.harness.spread import spread
from benchmarks.rollback import flows
from benchmarks.rollback.flows import LAST, LITERATURE
from benchmarks.rollback.updates import monitor_at

QUICK_SIZES = [(1_000, 10_000)]
SIZES = [*QUICK_SIZES, (10_000, 100_000), LITERATURE, (100_000, 1_000_000)]


class Plans(NamedTuple):
    """Plans with so many failed at once, and how many processors each of them took back."""

    processors: int
    edges: int
    failed: int
    timing: Timing
    rolled_back: list[int]


def plans(sizes: list[tuple[int, int]], seed: int) -> list[Plans]:
    """Plans in graphs of all sizes."""
    return [found for size in sizes for found in stormed(*size, seed)]


def stormed(processors: int, edges: int, seed: int) -> Iterator[Plans]:
    """Plans with one failed, with one in a hundred, and with one in ten."""
    rng = Random(seed)
    flow = flows.mixed(processors, edges, seed)
    names = list(flow.graph.domains)
    for i, p in enumerate(names):
        if i // flows.REACH % 5 == 4:
            flow.policy[p] = "logs"
    monitor = monitor_at(flow, {p: LAST + rng.randint(0, 4) for p in names})
    live = {p: flow.checkpoint(p, LAST + 5, live=True) for p in names if flow.policy[p] != "any"}
    for count in (1, processors // 100, processors // 10):
        solutions = []
        storms = [rng.sample(names, count) for _ in range(repetitions(edges))]
        timing = each(lambda f, s=solutions: s.append(monitor.rollback_plan(f, live)), storms)
        rolled = [sum(not f.is_top for f in s.frontiers.values()) for s in solutions]
        yield Plans(processors, edges, count, timing, rolled)


def repetitions(edges: int) -> int:
    """Fewer plans where one takes longer."""
    return 50 if edges <= 10_000 else 10 if edges < 1_000_000 else 5


def table(found: list[Plans]) -> Table:
    """What a plan takes."""
    shown = Table(
        "A storm of failures",
        ["processors", "edges", "failed", "plans", "best", "median", "worst", "rolled back"],
        note="Each plan is a fresh solve with what live processors have done so far offered as ⊤,"
        " and the reasons for everyone who must roll back.",
    )
    for processors, edges, failed, timing, rolled in found:
        row = [f"{number:,}" for number in (processors, edges, failed, len(rolled))]
        row += map(show_seconds, (timing.best, timing.median, timing.worst))
        shown.rows.append([*row, spread(rolled, "{:,.0f}".format)])
    return shown
