"""Connected components of a graph that changes: following the changes, or computing them again."""

import shutil
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import falkirk as fk
from benchmarks.report import Report, Table
from benchmarks.spread import median, spread, verdict
from benchmarks.versions import spark_machine
from falkirk.connectors import Files
from falkirk.dataflow.connecting import Limit
from falkirk.differential import collection, graphs
from falkirk.runtime.options import Options
from falkirk.runtime.run import run as run_flow
from falkirk.runtime.session import start_session

SCHEMA = "src BIGINT, dst BIGINT, change BIGINT"
CHANGES = 100
NONE, LAZY, EACH, EAGER = "nothing is saved", "lazy(every=10)", "lazy()", "eager()"
POLICIES: dict[str, fk.Policy] = {
    NONE: fk.at_least_once(),
    LAZY: fk.lazy(every=10),
    EACH: fk.lazy(),
    EAGER: fk.eager(),
}
AGAIN = "plain Spark, from scratch"


@dataclass(frozen=True)
class Graph:
    """A random graph with twice as many edges as vertices, and epochs of changes to it."""

    edges: int
    epochs: int
    seed: int = 20260

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return self.edges // 2

    def make(self, folder: Path) -> pa.Table:
        """Writes a file for each epoch, the whole graph first; returns the edges at the end.

        In every epoch as many edges go as come.
        """
        folder.mkdir(parents=True)
        random = np.random.default_rng((self.seed, self.edges))
        ends = random.integers(0, self.vertices, (self.edges, 2))
        write(folder, 0, ends, np.ones(len(ends)))
        for epoch in range(1, self.epochs + 1):
            places = random.choice(self.edges, CHANGES // 2, replace=False)
            come = random.integers(0, self.vertices, (CHANGES // 2, 2))
            signs = np.concatenate([np.ones(len(come)), -np.ones(len(come))])
            write(folder, epoch, np.concatenate([come, ends[places]]), signs)
            ends[places] = come
        return table_of(ends)


def write(folder: Path, epoch: int, ends: Any, signs: Any) -> None:
    """Writes the changes of one epoch."""
    table = table_of(ends).append_column("change", pa.array(signs.astype("int64")))
    pq.write_table(table, folder / f"{epoch:06}.parquet")


def table_of(ends: Any) -> pa.Table:
    """Edges as a table."""
    return pa.table({"src": ends[:, 0], "dst": ends[:, 1]})


class Seen:
    """A sink that notes when the first epoch has come, and adds the changes up."""

    exactly_once = False

    def __init__(self) -> None:
        """Nothing has come."""
        self.sums: Counter[tuple[int, int]] = Counter()
        self.first: float | None = None

    def write(self, name: str, time_: Any, batch: Any) -> None:
        """Takes the changes of one epoch."""
        rows = batch.arrow()
        self.first = self.first or time.monotonic()
        node, component, change = (rows[c].to_pylist() for c in ("node", "component", "change"))
        for each in zip(node, component, change, strict=True):
            self.sums[each[:2]] += each[2]

    @property
    def components(self) -> dict[int, int]:
        """The component of each vertex at the end."""
        return dict(pair for pair, count in self.sums.items() if count)


def followed(session: Any, folder: Path, policy: str, epochs: int) -> tuple[float, float, Any]:
    """Seconds of the first epoch and of one after it, and what came out; one epoch at a time."""
    flow = fk.Dataflow("components")
    source = Files(folder, schema=SCHEMA, order="name")
    edges = collection(flow.read(source, name="edges", limit=Limit(files=1)), "change")
    with flow.policy(POLICIES[policy]):
        made = graphs.connected_components(edges)
    sink = Seen()
    made.changes().write(sink, name="out")
    store = Path(tempfile.mkdtemp(dir=folder.parent))
    begun = time.monotonic()
    run_flow(flow, "memory:" if policy == NONE else store, session, options=Options(epochs_ahead=1))
    end = time.monotonic()
    shutil.rmtree(store)
    assert sink.first is not None, "the first epoch has all vertices"
    return sink.first - begun, (end - sink.first) / epochs, sink.components


def from_scratch(session: Any, ends: pa.Table) -> tuple[float, dict[int, int]]:
    """Seconds to compute all components with DataFrames, as a Spark user would, and what they are.

    The least label spreads along edges, joined to the labels in each round, until none changes; a
    local checkpoint cuts the lineage.
    """
    begun = time.monotonic()
    edges = session.createDataFrame(ends)
    both = edges.union(edges.selectExpr("dst", "src")).localCheckpoint()
    labels = both.selectExpr("src AS node", "src AS label").distinct().localCheckpoint()
    while True:
        told = labels.join(both, labels.node == both.src).selectExpr("dst AS node", "label")
        least = told.union(labels).groupBy("node").agg({"label": "min"})
        new = least.withColumnRenamed("min(label)", "label").localCheckpoint()
        old = labels.withColumnRenamed("label", "before")
        changed = new.join(old, "node").where("label != before").limit(1).count()
        labels = new
        if not changed:
            break
    found = labels.toArrow()
    seconds = time.monotonic() - begun
    pairs = zip(found["node"].to_pylist(), found["label"].to_pylist(), strict=True)
    return seconds, dict(pairs)


@dataclass
class Found:
    """Seconds of one size of graph."""

    first: list[float]
    each: dict[str, list[float]]
    again: list[float]


def run(quick: bool) -> Report:
    """Follows the changes under each policy and computes from scratch, in turn, in one session."""
    sizes, epochs, repetitions = ((2_000,), 3, 1) if quick else ((50_000, 200_000, 400_000), 20, 2)
    settings = {**spark_machine(), **described(epochs, repetitions)}
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    session = start_session("components")
    found = {}
    try:
        for size in sizes:
            ends = Graph(size, epochs).make(place / str(size))
            names = list(POLICIES) if size == 200_000 or quick else [NONE]
            found[size] = measured(session, place / str(size), ends, names, epochs, repetitions)
    finally:
        session.stop()
        shutil.rmtree(place, ignore_errors=True)
    report = Report("Connected components that follow changes", settings)
    report.targets = targets(found)
    report.tables = [times(found), costs(found)]
    return report


def measured(
    session: Any, folder: Path, ends: pa.Table, names: list[str], epochs: int, repetitions: int
) -> Found:
    """One size of graph; all results are compared."""
    found = Found([], defaultdict(list), [])
    for repetition in range(repetitions):
        seconds, right = from_scratch(session, ends)
        found.again.append(seconds)
        for name in names[::-1] if repetition % 2 else names:
            first, each, shown = followed(session, folder, name, epochs)
            if shown != right:
                raise RuntimeError(f"{name}: the components are not those of plain Spark")
            found.first.append(first)
            found.each[name].append(each)
    return found


# What is shown.


def described(epochs: int, repetitions: int) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": f"random graphs, two edges a vertex; after the first epoch, {epochs} epochs in each"
        f" of which {CHANGES // 2} edges come and as many go, one epoch at a time",
        AGAIN: "label propagation with DataFrames in the same session, a local checkpoint each"
        " round; the graph of the last epoch; the table of edges is handed over once",
        NONE: "at_least_once() and a store in memory",
        "results": "the components of the last epoch are compared with those of plain Spark",
        "time": "from the result of the first epoch to the end of the run, saving included, for"
        f" each epoch of changes; {repetitions} runs in turn",
        "small state": "what fits (32 MiB a piece) rests on the driver and is matched there by"
        " Arrow; larger pieces are cached by executors and matched by Spark",
        "command": "python -m benchmarks components",
    }


def targets(found: dict[int, Found]) -> Table:
    """The floors."""
    table = Table("Targets", ["target", "measured", "met"])
    ratios = {size: median(each.again) / median(each.each[NONE]) for size, each in found.items()}
    for size, ratio in ratios.items():
        if size == 200_000:
            goal = f"{size:,} edges: an epoch at least 5× faster than from scratch"
            table.rows.append([goal, f"{ratio:.1f}×", verdict(ratio >= 5)])
    grows = sorted(ratios.values()) == list(ratios.values())
    shown = ", ".join(f"{size:,}: {ratio:.1f}×" for size, ratio in ratios.items())
    table.rows.append(["the ratio grows with the graph", shown, verdict(grows)])
    for size, each in found.items():
        if LAZY in each.each:
            ratio = median(each.each[LAZY]) / median(each.each[NONE])
            goal = f"{size:,} edges: {LAZY} costs at most 10 % over none"
            table.rows.append([goal, f"{ratio:.2f}×", verdict(ratio <= 1.1)])
    return table


def times(found: dict[int, Found]) -> Table:
    """Seconds an epoch, and from scratch."""
    table = Table("Seconds", ["edges", "first epoch", "an epoch of changes", AGAIN])
    for size, each in found.items():
        shown = [spread(s, "{:.2f}".format) for s in (each.first, each.each[NONE], each.again)]
        table.rows.append([f"{size:,}", *shown])
    return table


def costs(found: dict[int, Found]) -> Table:
    """What policies cost."""
    table = Table("Policies", ["edges", "policy of the region", "seconds an epoch", "of none"])
    for size, each in found.items():
        for name, seconds in each.each.items():
            ratio = median(seconds) / median(each.each[NONE])
            shown = spread(seconds, "{:.2f}".format)
            table.rows.append([f"{size:,}", name, shown, f"{ratio:.2f}×"])
    return table
