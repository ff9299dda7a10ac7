"""Descending a loop at one stroke gives what plain lowering gives, and ends however long it is."""

from random import Random

import pytest
from tests.scale import scaled

from falkirk.core import fixpoint
from falkirk.core.checkpoint import AnyFrontier, Restorable
from falkirk.core.constraints import violations
from falkirk.core.domain import Structured
from falkirk.core.graph import Edge, Graph
from falkirk.core.monitor import Completed, Monitor
from falkirk.core.order import Order
from falkirk.core.projection import Enter, Feedback, Identity, Leave
from falkirk.core.rollback import solve
from falkirk.core.times import INF

SEEDS, SMALL, HUGE = scaled(1_500), 24, 10**9
STEPS = {0: Identity, 1: Enter, -1: Leave}


def loops(seed: int, long: int) -> tuple[Graph, dict[str, Restorable]]:
    """Stateless processors in nested loops, whose counters are near 0 or near ``long``."""
    rng = Random(seed)
    orders = rng.choice(([Order.LEX], [Order.PRODUCT], list(Order)))
    domains = {
        f"p{i}": Structured(rng.choice((1, 2, 2, 2, 3)), rng.choice(orders))
        for i in range(rng.randint(2, 5))
    }
    names, edges = list(domains), []
    for k in range(rng.randint(2, 8)):
        i, j = rng.randrange(len(names)), rng.randrange(len(names))
        source, target = domains[names[i]], domains[names[j]]
        step = STEPS.get(target.depth - source.depth) if i < j else None
        if source.depth == target.depth > 1 and rng.random() < 0.5:
            step = Feedback
        if step:
            edges.append(Edge(f"e{k}", names[i], names[j], step(source, target)))
    graph = Graph(domains, edges)

    def times(domain: Structured) -> list[tuple]:
        counters = (0, 1, long - 1, long, long, INF)
        return [
            (rng.randint(0, 2), *(rng.choice(counters) for _ in range(domain.depth - 1)))
            for _ in range(1 if domain.total else rng.randint(1, 3))
        ]

    return graph, {
        p: AnyFrontier(
            domain.frontier(times(domain)),
            failed=rng.random() < 0.6,
            notifies=rng.random() < 0.7,
            logs=frozenset(e.name for e in graph.outputs(p) if rng.random() < 0.2),
        )
        for p, domain in domains.items()
    }


def relative(frontiers: dict, long: int) -> dict:
    """Frontiers with the counters near ``long`` told by their distance from it."""
    return {
        p: [[c if c < long / 2 or c == INF else (long - c,) for c in m] for m in f.maximal]
        for p, f in frontiers.items()
    }


def plain(monkeypatch: pytest.MonkeyPatch, graph: Graph, restorables: dict) -> tuple[dict, dict]:
    """The answer without any leap."""
    with monkeypatch.context() as patch:
        patch.setattr(fixpoint, "PATIENCE", INF)
        solution = solve(graph, restorables)
        return solution.frontiers, solution.notifications


@pytest.mark.parametrize("patience", [1, 2, 7])
def test_leaps_give_what_plain_lowering_gives(
    patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixpoint, "PATIENCE", patience)
    for seed in range(SEEDS):
        graph, restorables = loops(seed, SMALL)
        solution = solve(graph, restorables)
        expected = plain(monkeypatch, graph, restorables)
        assert (solution.frontiers, solution.notifications) == expected, f"seed {seed}"


def test_long_loops_end_at_once_where_short_ones_end(monkeypatch: pytest.MonkeyPatch) -> None:
    long_ones = 0
    for seed in range(SEEDS):
        solution = solve(*loops(seed, HUGE))
        assert violations(solution.choice) == [], f"seed {seed}"
        short = plain(monkeypatch, *loops(seed, SMALL))
        assert relative(solution.frontiers, HUGE) == relative(short[0], SMALL), f"seed {seed}"
        assert relative(solution.notifications, HUGE) == relative(short[1], SMALL), f"seed {seed}"
        lowest = fixpoint.Fixpoint(*loops(seed, HUGE))
        lowest.settle()
        long_ones += max(lowest._lowered) >= fixpoint.PATIENCE
    assert long_ones > SEEDS // 150, "too few of the problems descend far"


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("parallel", [False, True])
def test_two_stateless_processors_in_a_loop(order: Order, parallel: bool) -> None:
    loop = Structured(2, order)
    ends = ("p", "q") if parallel else ("q", "p")
    edges = [Edge("e1", "p", "q", Identity(loop, loop)), Edge("e2", *ends, Feedback(loop, loop))]
    graph = Graph({"p": loop, "q": loop}, edges)
    complete = loop.frontier([(0, INF), (1, HUGE)])
    solution = solve(graph, {p: AnyFrontier(complete, failed=True) for p in "pq"})
    assert set(solution.frontiers.values()) == {loop.frontier([(0, INF)])}


def test_the_monitor_leaps_too() -> None:
    for seed in range(SEEDS // 3):
        graph, restorables = loops(seed, HUGE)
        stateless = {
            p: AnyFrontier(graph.domains[p].empty, True, r.notifies, r.logs)
            for p, r in restorables.items()
        }
        monitor, known = Monitor(graph, stateless), dict(stateless)
        for p, restorable in restorables.items():
            monitor.update([Completed(p, restorable.complete)])
            known[p] = AnyFrontier(restorable.complete, True, restorable.notifies, restorable.logs)
            fresh = solve(graph, known)
            assert monitor.choice().frontiers == fresh.frontiers, f"seed {seed}"
            assert monitor.choice().notifications == fresh.notifications, f"seed {seed}"
