"""The report: targets, seconds by the size of the graph, and what policies cost."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchmarks.components.by_spark import AGAIN
from benchmarks.components.following import EACH, EAGER, LAZY, NONE, WHOLE
from benchmarks.components.graph import Graph
from benchmarks.harness import unsaved
from benchmarks.harness.plots import Lines
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import median, ratio, spread, times, verdict

if TYPE_CHECKING:
    from benchmarks.components.comparing import Found, Sizes
    from benchmarks.components.peers import Pathway

LITERATURE = {
    LAZY: "0.88× to 1.09×",
    EACH: "0.88× to 1.09×",
    EAGER: "1.2× to 2.9×",
    WHOLE: "about 1.45×",
}
"""On Naiad, over no fault tolerance: selective incremental, eager, without selective rollback."""


def described(sizes: "Sizes") -> dict[str, str]:
    """What is measured, and how."""
    epochs = sizes.growth[0].epochs
    return {
        "work": f"random graphs, two edges a vertex; after the first epoch, {epochs} epochs (or as"
        " many as a table says) of changes, in each of which as many edges come as go, one epoch"
        " at a time",
        AGAIN: "label propagation with DataFrames in the same session, a local checkpoint each"
        " round; one epoch a turn: the last, the first with changes and the middle one; the table"
        " of edges is handed over once",
        "scaled up": f"only {AGAIN}, where a table has whole runs: its epochs that were measured,"
        " times the number of all epochs. All of them would take up to ten minutes a run. All"
        " else was measured whole",
        "Pathway's part": "label propagation with its iterate, as its users write it, on all cores;"
        " edges come from a Python connector, one epoch at a time; it saves nothing; a fresh"
        " process each turn, whose start is not in the time",
        NONE: f"{unsaved.DESCRIBED}; every 10 epochs it is said what is done",
        WHOLE: "lazy(every=10) on a store that writes, with each checkpoint, all that its"
        " processor keeps: what a system has to do that cannot tell the state of one time from"
        " that of another, and so has no selective rollback",
        "results": "the components of the last epoch are compared with those of plain Spark",
        "time": "an epoch of changes: from the result of the first epoch to the end of the run,"
        " saving included, by the number of epochs",
        "turns": f"{sizes.turns} of everybody on every graph, one contender after the other, every"
        f" other turn backwards, after one on a small graph; {sizes.rounds} of falkirk's policies"
        f" where a table has whole runs, and {sizes.close} where there is a target for them, with"
        " the peers before and between them",
        "spread": "the median, with the least and the greatest; a ratio is that of the medians,"
        " with the least and the greatest of the turns",
        "small state": "what fits (32 MiB a piece) rests on the driver, where an index finds the"
        " rows of the keys that change; larger pieces are cached by executors and matched by Spark",
        "command": "python -m benchmarks components",
    }


def report(
    settings: dict[str, str], sizes: "Sizes", found: "Mapping[Graph, Found]", pathway: "Pathway"
) -> Report:
    """All of it."""
    growth = {graph: found[graph] for graph in sizes.growth}
    made = Report("Connected components that follow changes", settings)
    made.targets = targets(growth)
    made.tables = [seconds(growth), costs(growth)]
    made.tables += [runtimes(graph, found[graph]) for graph in sizes.policies]
    if pathway.trouble:
        logs = [[where, line] for where, lines in pathway.trouble.items() for line in lines]
        made.tables.append(Table("Pathway's log", ["on", "its end"], logs))
    made.figures = [drawn(growth)]
    return made


def epoch(graph: Graph, one: "Found", name: str = NONE) -> list[float]:
    """Seconds of an epoch of changes, in each run."""
    return [run.rest / graph.epochs for run in one.runs[name]]


def targets(growth: "Mapping[Graph, Found]") -> Table:
    """The floors."""
    table = Table("Targets", ["target", "measured", "met"])
    faster = {graph.edges: ratio(one.again, epoch(graph, one)) for graph, one in growth.items()}
    for graph, one in growth.items():
        if LAZY in one.runs:
            goal = f"{graph.edges:,} edges: an epoch at least 5× faster than from scratch"
            shown = times(one.again, epoch(graph, one), "{:.1f}×")
            table.rows.append([goal, shown, verdict(faster[graph.edges] >= 5)])
    grows = sorted(faster.values()) == list(faster.values())
    shown = ", ".join(f"{edges:,}: {each:.1f}×" for edges, each in faster.items())
    table.rows.append(["the ratio grows with the graph", shown, verdict(grows)])
    for graph, one in growth.items():
        for name in (EACH, LAZY):
            if name in one.runs:
                both = epoch(graph, one, name), epoch(graph, one)
                goal = f"{graph.edges:,} edges: {name} costs at most 10 % over none"
                table.rows.append([goal, times(*both), verdict(ratio(*both) <= 1.1)])
    return table


def seconds(growth: "Mapping[Graph, Found]") -> Table:
    """Seconds an epoch, and from scratch."""
    heads = [
        "edges",
        "first epoch",
        "an epoch of changes",
        AGAIN,
        "ratio",
        "Pathway: first",
        "epoch",
    ]
    table = Table("Seconds", heads)
    for graph, one in growth.items():
        first = [run.first for runs in one.runs.values() for run in runs]
        shown = [spread(s, "{:.2f}".format) for s in (first, epoch(graph, one), one.again)]
        peer = ["–", "–"]
        if one.pathway:
            firsts = [run.first for run in one.pathway]
            later = [run.rest / graph.epochs for run in one.pathway]
            peer = [spread(s, "{:.2f}".format) for s in (firsts, later)]
        faster = times(one.again, epoch(graph, one), "{:.1f}×")
        table.rows.append([f"{graph.edges:,}", *shown, faster, *peer])
    return table


def costs(growth: "Mapping[Graph, Found]") -> Table:
    """What policies cost in an epoch."""
    table = Table("Policies", ["edges", "policy of the region", "seconds an epoch", "of none"])
    for graph, one in growth.items():
        for name in one.runs:
            cost = times(epoch(graph, one, name), epoch(graph, one))
            shown = spread(epoch(graph, one, name), "{:.2f}".format)
            table.rows.append([f"{graph.edges:,}", name, shown, cost])
    return table


def runtimes(graph: Graph, one: "Found") -> Table:
    """The run time of each policy, as the literature has it, and of the peers."""
    title = f"{graph.epochs} epochs × {graph.changes:,} changes, {graph.edges:,} edges"
    heads = ["policy", "seconds in all", "over none", "literature, over none"]
    note = "From the start of the run to its end, the first epoch included; the literature's"
    table = Table(title, heads, note=f"{note} figures are for Naiad, on other machines and graphs.")
    whole = {name: [run.whole for run in runs] for name, runs in one.runs.items()}
    for name, taken in whole.items():
        cells = spread(taken, "{:.1f}".format), times(taken, whole[NONE])
        table.rows.append([name, *cells, LITERATURE.get(name, "1×")])
    again = [each * (graph.epochs + 1) for each in one.again]
    shown = f"{spread(again, '{:.0f}'.format)}, scaled up from {len(again)} of {graph.epochs + 1}"
    table.rows.append([AGAIN, f"{shown} epochs", times(again, whole[NONE], "{:.1f}×"), "–"])
    if one.pathway:
        taken = [run.whole for run in one.pathway]
        cells = spread(taken, "{:.1f}".format), times(taken, whole[NONE])
        table.rows.append(["Pathway, nothing is saved", *cells, "–"])
    return table


def drawn(growth: "Mapping[Graph, Found]") -> Lines:
    """Seconds over the size of the graph."""
    series = {
        AGAIN: [(float(graph.edges), median(one.again)) for graph, one in growth.items()],
        "an epoch of changes": [
            (float(graph.edges), median(epoch(graph, one))) for graph, one in growth.items()
        ],
    }
    peer = [
        (float(graph.edges), median([run.rest / graph.epochs for run in one.pathway]))
        for graph, one in growth.items()
        if one.pathway
    ]
    if peer:
        series["an epoch of changes, Pathway"] = peer
    title = "Components: an epoch of changes, and from scratch"
    return Lines("seconds", title, "edges", "seconds", series, log="xy")
