"""Runs the comparison: graphs of several sizes, policies, plain Spark and Pathway, in turn."""

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.components import showing
from benchmarks.components.by_spark import AGAIN, from_scratch
from benchmarks.components.following import EACH, LAZY, NONE, POLICIES, WHOLE, Run, followed
from benchmarks.components.graph import Graph
from benchmarks.components.peers import PATHWAY, Pathway
from benchmarks.harness.report import Report
from benchmarks.harness.versions import spark_machine
from falkirk.runtime.session import start_session

MAIN = 200_000
"""The size for which there are targets."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured: each graph in so many turns, and all policies in fewer rounds.

    Of those that have targets there are ``close`` rounds: they differ by less than one scatters.
    The state as a whole is saved on the first graph of policies only.
    """

    growth: Sequence[Graph]
    policies: Sequence[Graph]
    turns: int
    rounds: int
    close: int


FULL = Sizes(
    [Graph(edges, 20) for edges in (50_000, MAIN, 400_000)],
    [Graph(50_000, 50, 1_000), Graph(50_000, 100, 50)],
    turns=3,
    rounds=2,
    close=9,
)
QUICK = Sizes([Graph(2_000, 3)], [Graph(2_000, 3, 200)], turns=1, rounds=1, close=2)


@dataclass
class Found:
    """What was measured on one graph: runs by policy, seconds from scratch, and Pathway's runs."""

    runs: dict[str, list[Run]] = field(default_factory=lambda: defaultdict(list))
    again: list[float] = field(default_factory=list)
    pathway: list[Run] = field(default_factory=list)


def run(quick: bool) -> Report:
    """Follows the changes and computes from scratch in one session, Pathway beside it, in turn."""
    sizes = QUICK if quick else FULL
    pathway = Pathway.installed()
    settings = {**spark_machine(), "Pathway": pathway.version, **showing.described(sizes)}
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    session = start_session("components")
    found: dict[Graph, Found] = {}
    try:
        warm_up(session, place / "warm-up")
        for graph in sizes.growth:
            main = graph.edges == MAIN or quick
            names = [NONE, LAZY, EACH] if main else [NONE]
            plan = turns(names, sizes.close if main else sizes.turns, sizes.turns)
            found[graph] = measured(session, place, graph, plan, pathway)
        for graph in sizes.policies:
            names = [name for name in POLICIES if name != WHOLE or graph is sizes.policies[0]]
            plan = turns(names, sizes.rounds, sizes.turns)
            found[graph] = measured(session, place, graph, plan, pathway)
    finally:
        session.stop()
        shutil.rmtree(place, ignore_errors=True)
    return showing.report(settings, sizes, found, pathway)


def warm_up(session: Any, folder: Path) -> None:
    """Has both ways run once, so that no size pays for what the first run loads and compiles."""
    graph = Graph(2_000, 2)
    from_scratch(session, graph.make(folder)[graph.epochs])
    followed(session, folder, NONE)


def turns(names: Sequence[str], rounds: int, repetitions: int) -> list[str]:
    """Who runs when: the peers in every turn, and after them rounds of falkirk's policies.

    Every other one goes the other way, so that whatever else the machine does hits all alike.
    """
    plan: list[str] = []
    ways = cycle((1, -1))
    for turn in range(repetitions):
        plan += [AGAIN, PATHWAY][:: -1 if turn % 2 else 1]
        for _ in range(turn, rounds, repetitions):
            plan += names[:: next(ways)]
    return plan


def measured(
    session: Any, place: Path, graph: Graph, plan: Sequence[str], pathway: Pathway
) -> Found:
    """One graph; all results are compared."""
    folder = place / f"{graph.edges}-{graph.epochs}-{graph.changes}"
    edges, found = graph.make(folder), Found()
    right: dict[int, int] = {}
    for name in plan:
        if name == AGAIN:
            epoch = graph.moments[len(found.again) % len(graph.moments)]
            seconds, components = from_scratch(session, edges[epoch])
            found.again.append(seconds)
            right = right or components  # the last epoch is the first to be computed
        elif name != PATHWAY:
            found.runs[name].append(compared(name, followed(session, folder, name), right))
        elif (peer := pathway.followed(folder)) is not None:
            found.pathway.append(compared(name, peer, right))
    return found


def compared(name: str, one: Run, right: dict[int, int]) -> Run:
    """A run without its components; refuses one that ended with others than it should."""
    if one.components != right:
        raise RuntimeError(f"{name}: the components are not those of plain Spark")
    return replace(one, components={})
