"""Runs the comparison: graphs of several sizes, policies, plain Spark and Pathway, in turn."""

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.components import showing
from benchmarks.components.by_spark import from_scratch
from benchmarks.components.following import EACH, EAGER, LAZY, NONE, POLICIES, Run, followed
from benchmarks.components.graph import Graph
from benchmarks.components.peers import Pathway
from benchmarks.report import Report
from benchmarks.versions import spark_machine
from falkirk.runtime.session import start_session

MAIN = 200_000
"""The size for which there are targets."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    growth: Sequence[Graph]
    policies: Sequence[Graph]
    repetitions: int


FULL = Sizes(
    [Graph(edges, 20) for edges in (50_000, MAIN, 400_000)],
    [Graph(50_000, 50, 1_000), Graph(50_000, 100, 50)],
    repetitions=2,
)
QUICK = Sizes([Graph(2_000, 3)], [Graph(2_000, 3, 200)], repetitions=1)


@dataclass
class Found:
    """What was measured on one graph: runs by policy, seconds from scratch, and Pathway's run."""

    runs: dict[str, list[Run]] = field(default_factory=lambda: defaultdict(list))
    again: list[float] = field(default_factory=list)
    pathway: Run | None = None


def run(quick: bool) -> Report:
    """Follows the changes and computes from scratch, in turn, in one session; then Pathway."""
    sizes = QUICK if quick else FULL
    pathway = Pathway.installed()
    settings = {**spark_machine(), "Pathway": pathway.version, **showing.described(sizes)}
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    session = start_session("components")
    found: dict[Graph, Found] = {}
    try:
        warm_up(session, place / "warm-up")
        for graph in sizes.growth:
            names = [NONE, LAZY, EACH, EAGER] if graph.edges == MAIN or quick else [NONE]
            found[graph] = measured(session, place, graph, names, sizes.repetitions, pathway)
        for graph in sizes.policies:
            names = list(POLICIES)
            found[graph] = measured(session, place, graph, names, sizes.repetitions, pathway)
    finally:
        session.stop()
        shutil.rmtree(place, ignore_errors=True)
    return showing.report(settings, sizes, found, pathway)


def warm_up(session: Any, folder: Path) -> None:
    """Has both ways run once, so that no size pays for what the first run loads and compiles."""
    ends = Graph(2_000, 2).make(folder)
    from_scratch(session, ends)
    followed(session, folder, NONE)


def measured(
    session: Any,
    place: Path,
    graph: Graph,
    names: Sequence[str],
    repetitions: int,
    pathway: Pathway,
) -> Found:
    """One graph; all results are compared."""
    folder = place / f"{graph.edges}-{graph.epochs}-{graph.changes}"
    ends, found = graph.make(folder), Found()
    right: dict[int, int] = {}
    for repetition in range(repetitions):
        seconds, right = from_scratch(session, ends)
        found.again.append(seconds)
        for name in names[::-1] if repetition % 2 else names:
            found.runs[name].append(compared(name, followed(session, folder, name), right))
    peer = pathway.followed(folder)
    if peer is not None:
        found.pathway = compared("Pathway", peer, right)
    return found


def compared(name: str, one: Run, right: dict[int, int]) -> Run:
    """A run without its components; refuses one that ended with others than it should."""
    if one.components != right:
        raise RuntimeError(f"{name}: the components are not those of plain Spark")
    return replace(one, components={})
