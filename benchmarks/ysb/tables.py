"""What the report shows."""

from collections.abc import Callable, Sequence
from itertools import chain

from benchmarks.harness.report import Table
from benchmarks.harness.spread import ends, median, quantile, ratios, spread, times
from benchmarks.inputs.events import ADS_EACH, CAMPAIGNS
from benchmarks.ysb.contenders import (
    AT_LEAST,
    EXACTLY,
    FALKIRK,
    FLINK,
    FLINK_AT_ONCE,
    RELAXED,
    STREAMING,
    Contender,
    of_two,
)
from benchmarks.ysb.outcome import Run
from benchmarks.ysb.plan import FILE_MS, LEAD_MS, Plan
from benchmarks.ysb.stream import WINDOW_MS

Found = dict[str, list[Run]]
DASH = "–"


def described(plan: Plan, everybody: list[Contender]) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": f"views of {CAMPAIGNS} campaigns ({ADS_EACH} advertisements each) in windows of"
        f" {WINDOW_MS // 1000} s of event time: filter, project, join with the campaigns, count;"
        " everybody shows running counts, so that a window's final count is the last one shown",
        "stream": "files of JSON lines that are moved into a folder, because every contender reads"
        f" them again after a failure and none needs another package for it; {plan.rate:,}"
        f" events/s in a file every {FILE_MS} ms, made by a process of its own; event time is the"
        " world's, shifted by a constant so that a window begins with the stream",
        "sink": "a file for each batch of results: written, forced to the disk, renamed (Flink: its"
        " own FileSink); seen from outside by another process, which looks every 3 ms",
        "final-event latency": "for each campaign and window: from the moment at which the file"
        " with its last view is visible to the contender until its final count is visible to the"
        " observer, and nothing is subtracted",
        "a run": f"a fresh folder and process; some {plan.warm:,} events in rounds to warm up, and"
        f" at last {plan.backlog:,} at once, as many as are measured next, since so many may take"
        f" code that fewer do not; {plan.practice} s of the stream, because Java goes on compiling"
        f" for as long as that; {plan.times} times, one after the other, a backlog of"
        f" {plan.backlog:,} events in files of {plan.file:,}; {LEAD_MS // 1000} s of the"
        f" stream to settle; whole windows in steady state ({plan.steady}); one more, in whose"
        " middle the process and all its children get SIGKILL and are started again at once, while"
        " the stream goes on; of those with two workers, one worker and its children get it, and"
        f" the rest sees to it. {plan.repetitions} runs each, contenders in turn, in changing"
        " order",
        **{f"{each.name}, {each.guarantee}": each.setting for each in everybody},
        "command": "python -m benchmarks ysb",
    }


def tables(
    everybody: list[Contender], found: Found, failed: dict[str, str], plan: Plan
) -> list[Table]:
    """All of them."""
    present = [each for each in everybody if found.get(each.name)]
    shown = [
        steady(present, found),
        failure([each for each in present if not each.worker], found, WHOLE),
        failure([each for each in present if each.worker], found, ONE_WORKER),
        counts(present, found),
        throughput(present, found, plan),
        literature(found),
    ]
    return shown + [absent(name, log) for name, log in failed.items()]


def milliseconds(seconds: float) -> str:
    """Without a unit."""
    return f"{seconds * 1e3:,.0f}"


def pooled(runs: list[Run], part: Callable[[Run], tuple[float, ...]]) -> list[float]:
    """The values of all runs."""
    return [seconds for run in runs for seconds in part(run)]


def tail(values: Sequence[float]) -> float:
    """What only one in a hundred exceeds."""
    return quantile(values, 0.99)


def latency_cells(runs: list[Run], part: Callable[[Run], tuple[float, ...]]) -> list[str]:
    """Median and p99 of all runs, each with the least and the greatest of a run."""
    values = pooled(runs, part)
    if not values:
        return [DASH] * 2
    cells = []
    for measure in (median, tail):
        each = [measure(part(run)) for run in runs if part(run)]
        cells.append(f"{milliseconds(measure(values))} {ends(each, milliseconds)}")
    return cells


def steady(present: list[Contender], found: Found) -> Table:
    """Latency while nothing fails."""
    table = Table(
        "Latency in steady state",
        [
            "contender",
            "guarantee",
            "final: median ms",
            "p99 ms",
            "a file: median ms",
            "p99 ms",
        ],
        note="Final-event latency, over all campaigns and windows of all runs: those of one window"
        " end together, so that there are as many values as there are of them, but not as many"
        " that are independent. Beside it the time from each file to the moment when all its"
        " views are counted, of which there are ten a second. In brackets the least and the"
        " greatest of the runs.",
    )
    for each in present:
        runs = found[each.name]
        final = latency_cells(runs, lambda run: run.final)
        files = latency_cells(runs, lambda run: run.files)
        table.rows.append([each.name, each.guarantee, *final, *files])
    return table


WHOLE = (
    "In the window of a failure: the whole process",
    "SIGKILL in the middle of the window, five seconds before its end; a JVM and an interpreter"
    " start again in that time, where there are any.",
)
ONE_WORKER = (
    "In the window of a failure: one worker of two",
    "SIGKILL for one of two worker processes in the middle of the window, five seconds before its"
    " end; what outlives it sees that it is gone, does its work elsewhere and has it replaced."
    " Bytewax and Pathway are not here: when a worker of theirs dies, all of them end.",
)


def failure(present: list[Contender], found: Found, what: tuple[str, str]) -> Table:
    """Latency in the window of the kill; ``what`` was killed."""
    title, happened = what
    table = Table(
        title,
        [
            "contender",
            "guarantee",
            "final: median ms",
            "p99 ms",
            "slowest file ms",
            "first new result s",
        ],
        note=f"{happened} The slowest file is the one of that window that took longest to be"
        " counted. The last column is from the kill to the first count that is higher than what was"
        " shown before. In brackets the least and the greatest of the runs.",
    )
    for each in present:
        runs = found[each.name]
        final = latency_cells(runs, lambda run: run.failing)
        slow = [slowest(run)[0] for run in runs if run.around]
        first = [run.first_after_kill for run in runs if run.first_after_kill is not None]
        cells = [spread(slow, milliseconds) if slow else DASH]
        cells += [spread(first, "{:.1f}".format) if first else DASH]
        table.rows.append([each.name, each.guarantee, *final, *cells])
    return table


def slowest(run: Run) -> tuple[float, ...]:
    """The longest that a file of the window of the failure took; nothing if none was counted."""
    return tuple(sorted(seconds for _, seconds in run.around)[-1:])


def counts(present: list[Contender], found: Found) -> Table:
    """Whether what is shown in the end is right."""
    table = Table(
        "Counts at the end",
        ["contender", "guarantee", "runs", "groups", "too low", "too high", "shown again"],
        note="The last count shown of each campaign and window, after the kill, against the right"
        " one; sums over all runs. Shown again: results that say no more than an earlier one of"
        " their group did; exactly once there are none, at least once there may be.",
    )
    for each in present:
        runs = found[each.name]
        sums = [
            len(runs),
            sum(run.groups for run in runs),
            sum(run.too_low for run in runs),
            sum(run.too_high for run in runs),
            sum(run.repeated for run in runs),
        ]
        table.rows.append([each.name, each.guarantee, *(f"{number:,}" for number in sums)])
    return table


def throughput(present: list[Contender], found: Found, plan: Plan) -> Table:
    """Events a second on a backlog."""
    table = Table(
        "Throughput",
        ["contender", "guarantee", "events/s", "× Structured Streaming", "first results s"],
        note="From the moment when the last file of a backlog is visible until all its counts are;"
        " a run's is the middle one of its backlogs. Median with the lowest and the highest; of the"
        " ratio, those of the turns, on as many workers. First results: from the start of the"
        " process until the counts of the first two files are right.",
    )
    for each in present:
        rival = of_two(STREAMING) if each.worker else STREAMING
        base = [plan.backlog / run.backlog for run in found.get(rival, [])]
        rates = [plan.backlog / run.backlog for run in found[each.name]]
        over = times(rates, base, "{:.2f}") if base else DASH
        starts = spread([run.start for run in found[each.name]], "{:.1f}".format)
        rate = spread(rates, "{:,.0f}".format)
        table.rows.append([each.name, each.guarantee, rate, over, starts])
    return table


def literature(found: Found) -> Table:
    """Ratios here beside those of the literature."""
    table = Table(
        "Beside the literature",
        [
            "final-event latency",
            "there: Falkirk / Flink / Drizzle ms",
            "there: Falkirk ÷ Flink, ÷ Drizzle",
            "here: ÷ Flink",
            "here: ÷ Structured Streaming",
        ],
        note="There: 25 machines, Falkirk on Naiad, Drizzle on Spark; one worker of many fails."
        " Here: one machine, falkirk on Spark, so that only ratios may be compared; Structured"
        " Streaming stands where Drizzle stood. Steady state is in one process; of the failures,"
        " one worker of two is the literature's kind, and the whole process has no counterpart"
        " there. Flink shows results with a checkpoint exactly once and at once at least once;"
        " Structured Streaming ends each batch with a commit, so that its only figures, which are"
        " exactly once, stand in all rows. The final event comes"
        " five seconds after the kill, when who was away for a while may have caught up; so the"
        " slowest file of that window stands beside it. Ratios are those of all runs together, with"
        " the least and the greatest of two runs of the same turn in brackets.",
    )

    def final(run: Run) -> tuple[float, ...]:
        return run.final

    def failing(run: Run) -> tuple[float, ...]:
        return run.failing

    known = [
        (f"{EXACTLY}, median", FALKIRK, FLINK, median, (382, 991, 1464)),
        (f"{EXACTLY}, p99", FALKIRK, FLINK, tail, (487, 1691, 1852)),
        (f"{AT_LEAST}, median", RELAXED, FLINK_AT_ONCE, median, (102, 330, 179)),
        (f"{AT_LEAST}, p99", RELAXED, FLINK_AT_ONCE, tail, (283, 473, 335)),
    ]
    for title, ours, flink, measure, there in known:
        here = [beside(found, ours, rival, final, measure) for rival in (flink, STREAMING)]
        table.rows.append([title, *literally(*there), *here])
    names = FALKIRK, FLINK, STREAMING
    two, nothing = [of_two(name) for name in names], [DASH] * 2
    for title, (ours, *rivals), part, cells in (
        (f"{EXACTLY}, a worker fails", two, failing, literally(455, 2225, 2289)),
        ("and the slowest file then", two, slowest, nothing),
        (f"{EXACTLY}, all fails", names, failing, nothing),
        ("and the slowest file then", names, slowest, nothing),
    ):
        here = [beside(found, ours, rival, part, median) for rival in rivals]
        table.rows.append([title, *cells, *here])
    return table


def literally(falkirk: int, flink: int, drizzle: int) -> list[str]:
    """What was measured there, and its ratios."""
    shown = f"{falkirk} / {flink} / {drizzle}"
    return [shown, f"{falkirk / flink:.2f}, {falkirk / drizzle:.2f}"]


def beside(
    found: Found,
    ours: str,
    rival: str,
    part: Callable[[Run], tuple[float, ...]],
    measure: Callable[[Sequence[float]], float],
) -> str:
    """A ratio of two latencies over all runs, with the least and the greatest of the turns."""
    mine, theirs = ([part(run) for run in found.get(name, [])] for name in (ours, rival))
    mine, theirs = ([each for each in side if each] for side in (mine, theirs))
    if not mine or not theirs:
        return DASH
    whole = measure(list(chain(*mine))) / measure(list(chain(*theirs)))
    turns = ratios([measure(each) for each in mine], [measure(each) for each in theirs])
    return f"{whole:.2f} {ends(turns, '{:.2f}'.format)}"


def absent(name: str, log: str) -> Table:
    """Who could not take part, and its last words."""
    lines = [line.replace("|", "\\|").replace("[", "\\[") for line in log.splitlines()[-25:]]
    note = f"The end of the log of {name}."
    return Table(f"{name} could not run", ["log"], [[line] for line in lines], note)
