"""Single updates in monitors of two sizes, in turn: does one cost more where there are more?"""

from collections.abc import Callable, Iterator
from random import Random

from benchmarks.harness.measure import Timing, each, show_seconds
from benchmarks.harness.report import Table
from benchmarks.harness.spread import ratio, spread, times, verdict
from benchmarks.rollback import flows
from benchmarks.rollback.flows import LAST, Flow
from falkirk.core import AnyFrontier, Completed, Monitor, Saved, Update

ROUNDS = 3
MOST = 20_000
"""Updates of a whole step."""

Measured = tuple[Timing, int]
"""What updates took, and how many watermarks they raised."""

Stage = tuple[str, Callable[[int], Measured]]
"""What kind of update it is, and what has a part of them made."""


def updates(
    small: tuple[int, int], large: tuple[int, int], seed: int, targets: Table, fresh: float
) -> Table:
    """Single updates in monitors of both sizes, in rounds; ``fresh`` is what a whole solve takes.

    A size is so many processors and edges.
    """
    table = Table(
        "One update in the monitor",
        [
            "update",
            "processors",
            "best",
            "median",
            "medians of the rounds",
            "mean",
            "worst",
            "watermarks raised (mean)",
        ],
        note="Everyone is 0 to 4 steps ahead of a common low-watermark when measuring begins. Each"
        f" row is up to 300 single updates in {ROUNDS} rounds, both sizes in turn. In `a whole"
        f" step` all but one of the slowest save (at most {MOST:,}), in random order. `slowest of a"
        " flow`: the graph consists of many flows with no edge between them; the slowest of each"
        " catches up, and its whole flow rises. A flow of 100 is a thousandth of the large graph: a"
        " fresh solve of it alone would be 1,000× less.",
    )
    for (name, few), (_, many) in zip(stages(*small, seed), stages(*large, seed), strict=True):
        found: dict[int, list[Measured]] = {small[0]: [], large[0]: []}
        for number in range(ROUNDS):
            found[small[0]].append(few(number))
            found[large[0]].append(many(number))
        table.rows += [row(name, processors, rounds) for processors, rounds in found.items()]
        less, more = ([timing.median for timing, _ in rounds] for rounds in found.values())
        goal = f"{name}: median the same within 2× at {small[0]:,} and {large[0]:,} processors"
        targets.rows.append([goal, times(more, less), verdict(ratio(more, less) <= 2)])
        goal = f"{name}: 1,000× less than a fresh solve at {large[0]:,} processors"
        cheaper = times([fresh], more, "{:,.0f}×")
        targets.rows.append([goal, cheaper, verdict(ratio([fresh], more) >= 1000)])
    return table


def row(name: str, processors: int, rounds: list[Measured]) -> list[str]:
    """All updates of a kind at one size."""
    every = Timing(tuple(second for timing, _ in rounds for second in timing.seconds))
    medians = spread([timing.median for timing, _ in rounds], show_seconds)
    mean = sum(every.seconds) / len(every.seconds)
    raised = sum(number for _, number in rounds) / len(every.seconds)
    shown = [show_seconds(second) for second in (every.best, every.median)]
    shown += [medians, show_seconds(mean), show_seconds(every.worst)]
    return [name, f"{processors:,}", *shown, f"{raised:.1f}"]


def stages(processors: int, edges: int, seed: int) -> Iterator[Stage]:
    """All kinds of updates at one size; a stage is over when the next one is asked for."""
    rng = Random(seed)
    flow = flows.mixed(processors, edges, seed)
    steps = {p: LAST + rng.randint(0, 4) for p in flow.graph.domains}
    monitor = monitor_at(flow, steps)
    ahead = [p for p in flow.graph.domains if steps[p] > LAST]
    yield "ahead of others", in_parts(flow, monitor, steps, rng.sample(ahead, 300))
    behind = [p for p in flow.graph.domains if steps[p] == LAST]
    yield "one of the slowest", in_parts(flow, monitor, steps, behind[:100])
    rest = [p for p in flow.graph.domains if p not in behind[-1:]]
    rng.shuffle(rest)
    yield "a whole step", in_parts(flow, monitor, steps, rest[:MOST])
    del monitor, flow
    for size, degree in ((10, 3), (100, 10)):
        flow = flows.separate(processors, seed, size, degree)
        steps = {p: LAST + 1 + rng.randint(0, 3) for p in flow.graph.domains}
        names = list(flow.graph.domains)
        slowest = [rng.choice(names[i : i + size]) for i in range(0, processors, size)]
        steps.update(dict.fromkeys(slowest, LAST))
        monitor = monitor_at(flow, steps)
        yield f"slowest of a flow of {size}", in_parts(flow, monitor, steps, slowest[:300])


def in_parts(
    flow: Flow, monitor: Monitor, steps: dict[str, int], chosen: list[str]
) -> Callable[[int], Measured]:
    """Has one part of ``chosen`` after the other go on to their next steps."""
    return lambda part: measured(flow, monitor, steps, chosen[part::ROUNDS])


def measured(flow: Flow, monitor: Monitor, steps: dict[str, int], chosen: list[str]) -> Measured:
    """Updates of ``chosen`` to their next steps."""
    raised = 0

    def call(update: Update) -> None:
        nonlocal raised
        raised += len(monitor.update([update]).watermarks)

    following = []
    for p in chosen:
        steps[p] += 1
        following.append(announce(flow, p, steps[p]))
    return each(call, following), raised


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
