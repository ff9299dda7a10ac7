"""The report: targets, seconds by the size of the graph, and what policies cost."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchmarks import unsaved
from benchmarks.components.by_spark import AGAIN
from benchmarks.components.following import EACH, EAGER, LAZY, NONE, WHOLE
from benchmarks.components.graph import Graph
from benchmarks.plots import Lines
from benchmarks.report import Report, Table
from benchmarks.spread import median, spread, verdict

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
        " round; the graph of the last epoch; the table of edges is handed over once",
        "Pathway's part": "label propagation with its iterate, as its users write it, on all cores;"
        " edges come from a Python connector, one epoch at a time; it saves nothing; one run",
        NONE: f"{unsaved.DESCRIBED}; every 10 epochs it is said what is done",
        WHOLE: "lazy(every=10) on a store that writes, with each checkpoint, all that its"
        " processor keeps: what a system has to do that cannot tell the state of one time from"
        " that of another, and so has no selective rollback",
        "results": "the components of the last epoch are compared with those of plain Spark",
        "time": "an epoch of changes: from the result of the first epoch to the end of the run,"
        f" saving included, by the number of epochs; {sizes.repetitions} runs in turn, after one on"
        " a small graph",
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
    made.tables = [times(growth), costs(growth)]
    made.tables += [runtimes(graph, found[graph]) for graph in sizes.policies]
    if pathway.trouble:
        made.tables.append(
            Table("Pathway's log", ["its end"], [[each] for each in pathway.trouble])
        )
    made.figures = [drawn(growth)]
    return made


def epoch(graph: Graph, one: "Found", name: str = NONE) -> list[float]:
    """Seconds of an epoch of changes, in each run."""
    return [run.rest / graph.epochs for run in one.runs[name]]


def ratio(graph: Graph, one: "Found") -> float:
    """How much faster an epoch is than computing from scratch."""
    return median(one.again) / median(epoch(graph, one))


def targets(growth: "Mapping[Graph, Found]") -> Table:
    """The floors."""
    table = Table("Targets", ["target", "measured", "met"])
    ratios = {graph.edges: ratio(graph, one) for graph, one in growth.items()}
    for graph, one in growth.items():
        if LAZY in one.runs:
            found = ratios[graph.edges]
            goal = f"{graph.edges:,} edges: an epoch at least 5× faster than from scratch"
            table.rows.append([goal, f"{found:.1f}×", verdict(found >= 5)])
    grows = sorted(ratios.values()) == list(ratios.values())
    shown = ", ".join(f"{edges:,}: {each:.1f}×" for edges, each in ratios.items())
    table.rows.append(["the ratio grows with the graph", shown, verdict(grows)])
    for graph, one in growth.items():
        for name in (EACH, LAZY):
            if name in one.runs:
                cost = median(epoch(graph, one, name)) / median(epoch(graph, one))
                goal = f"{graph.edges:,} edges: {name} costs at most 10 % over none"
                table.rows.append([goal, f"{cost:.2f}×", verdict(cost <= 1.1)])
    return table


def times(growth: "Mapping[Graph, Found]") -> Table:
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
        if one.pathway is not None:
            peer = [f"{one.pathway.first:.2f}", f"{one.pathway.rest / graph.epochs:.2f}"]
        row = [f"{graph.edges:,}", *shown, f"{ratio(graph, one):.1f}×", *peer]
        table.rows.append(row)
    return table


def costs(growth: "Mapping[Graph, Found]") -> Table:
    """What policies cost in an epoch."""
    table = Table("Policies", ["edges", "policy of the region", "seconds an epoch", "of none"])
    for graph, one in growth.items():
        for name in one.runs:
            cost = median(epoch(graph, one, name)) / median(epoch(graph, one))
            shown = spread(epoch(graph, one, name), "{:.2f}".format)
            table.rows.append([f"{graph.edges:,}", name, shown, f"{cost:.2f}×"])
    return table


def runtimes(graph: Graph, one: "Found") -> Table:
    """The run time of each policy, as the literature has it, and of the peers."""
    title = f"{graph.epochs} epochs × {graph.changes:,} changes, {graph.edges:,} edges"
    heads = ["policy", "seconds in all", "over none", "literature, over none"]
    note = "From the start of the run to its end, the first epoch included; the literature's"
    table = Table(title, heads, note=f"{note} figures are for Naiad, on other machines and graphs.")
    whole = {name: [run.whole for run in runs] for name, runs in one.runs.items()}
    none = median(whole[NONE])
    for name, seconds in whole.items():
        over, shown = f"{median(seconds) / none:.2f}×", spread(seconds, "{:.1f}".format)
        table.rows.append([name, shown, over, LITERATURE.get(name, "1×")])
    again = [seconds * (graph.epochs + 1) for seconds in one.again]
    shown = f"{spread(again, '{:.0f}'.format)}, one epoch measured"
    table.rows.append([AGAIN, shown, f"{median(again) / none:.1f}×", "–"])
    if one.pathway is not None:
        seconds_all = one.pathway.whole
        row = ["Pathway, nothing is saved", f"{seconds_all:.1f}", f"{seconds_all / none:.2f}×", "–"]
        table.rows.append(row)
    return table


def drawn(growth: "Mapping[Graph, Found]") -> Lines:
    """Seconds over the size of the graph."""
    series = {
        AGAIN: [(float(graph.edges), median(one.again)) for graph, one in growth.items()],
        "an epoch of changes": [
            (float(graph.edges), median(epoch(graph, one))) for graph, one in growth.items()
        ],
    }
    peer = [(float(g.edges), o.pathway.rest / g.epochs) for g, o in growth.items() if o.pathway]
    if peer:
        series["an epoch of changes, Pathway"] = peer
    title = "Components: an epoch of changes, and from scratch"
    return Lines("seconds", title, "edges", "seconds", series, log="xy")
