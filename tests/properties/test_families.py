"""Families of frontiers that are not chains: the choice is maximal, and says if it is the largest.

§3.6: "If frontiers are not totally ordered, any maximal element can be chosen."
"""

from itertools import product
from random import Random

import pytest
from tests.scale import scaled

from falkirk.core.bridges import Recorded
from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint
from falkirk.core.constraints import violations
from falkirk.core.domain import EPOCH, Sequence, Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.family import Family, FamilyChoice
from falkirk.core.frontier import SequenceFrontier, TotalFrontier
from falkirk.core.graph import Edge, Graph
from falkirk.core.order import Order
from falkirk.core.projection import Enter, Feedback, Identity, Leave
from falkirk.core.rollback import solve

SEEDS = scaled(1_200)
PRODUCT = Structured(2, Order.PRODUCT)
STEPS = {0: Identity, 1: Enter, -1: Leave}


class Maker:
    """One random problem: families, chains and stateless processors."""

    def __init__(self, seed: int, kinds: str = "fffc") -> None:
        self.rng = Random(seed)
        count = self.rng.randint(2, 4)
        domains = {
            f"p{i}": self.rng.choices((PRODUCT, EPOCH, Sequence()), (5, 2, 2))[0]
            for i in range(count)
        }
        self.kind = {
            p: "any" if d is EPOCH and self.rng.random() < 0.5 else self.rng.choice(kinds)
            for p, d in domains.items()
        }
        self.graph = Graph(domains, self.edges(domains))
        self.restorables = {p: self.restorable(p) for p in domains}

    def edges(self, domains: dict) -> list[Edge]:
        names, found = list(domains), []
        for k in range(self.rng.randint(1, len(names) + 2)):
            i, j = (self.rng.randrange(len(names)) for _ in range(2))
            source, target = domains[names[i]], domains[names[j]]
            projection = None
            if isinstance(source, Sequence) or isinstance(target, Sequence):
                projection = None if self.kind[names[i]] == "any" else Recorded()
            elif i < j:
                projection = STEPS[target.depth - source.depth](source, target)
            elif source is target is PRODUCT:
                projection = Feedback(source, target)
            if projection:
                found.append(Edge(f"e{k}", names[i], names[j], projection))
        return found

    def frontier(self, p: str):
        domain, rng = self.graph.domains[p], self.rng
        if isinstance(domain, Sequence):
            return SequenceFrontier({d.name: rng.randint(0, 2) for d in self.graph.inputs(p)})
        times = [
            tuple(rng.randint(0, 2) for _ in range(domain.depth)) for _ in range(rng.randint(1, 2))
        ]
        return domain.frontier(times)

    def on(self, edge: Edge):
        """A frontier of the target, or its part on the edge."""
        if isinstance(self.graph.domains[edge.target], Sequence):
            number = self.rng.randint(0, 2)
            return TotalFrontier((number,)) if number else TotalFrontier()
        return self.frontier(edge.target)

    def restorable(self, p: str):
        domain, rng = self.graph.domains[p], self.rng
        if self.kind[p] == "any":
            return AnyFrontier(EPOCH.frontier([(rng.randint(0, 2),)]), failed=True)
        listed = [domain.empty]
        for _ in range(rng.randint(1, 4)):
            frontier = self.frontier(p)
            if self.kind[p] == "c":
                frontier = frontier | listed[-1]
            if frontier not in listed:
                listed.append(frontier)
        recorded = {e.name: {} for e in self.graph.outputs(p) if e.projection.recorded}
        for e in self.graph.outputs(p):
            if e.name in recorded:
                own = {f: self.on(e) for f in listed[1:]}
                for f in listed[1:]:  # made monotone
                    fixed = own[f]
                    for g in own:
                        fixed = fixed | own[g] if g <= f else fixed
                    recorded[e.name][f] = fixed
        checkpoints = [Checkpoint(domain.empty)] + [
            Checkpoint(
                f,
                rng.choice((None, domain.empty, domain.empty)),
                {d.name: self.on(d) for d in self.graph.inputs(p) if rng.random() < 0.3},
                {
                    e.name: self.graph.domains[e.target].edge_empty
                    if rng.random() < 0.5
                    else self.on(e)
                    for e in self.graph.outputs(p)
                    if rng.random() < 0.7
                },
                {e: fixed[f] for e, fixed in recorded.items()},
            )
            for f in listed[1:]
        ]
        if self.kind[p] == "c":
            return Chain(self.graph, p, checkpoints)
        return Family(self.graph, p, checkpoints)


def consistent(problem: Maker) -> list[dict]:
    """Every consistent choice, by trying all."""
    graph, found = problem.graph, []
    listed = [
        [EPOCH.frontier([(t,)] if t >= 0 else []) for t in range(-1, r.complete[0] + 1)]
        if isinstance(r, AnyFrontier)
        else r.frontiers
        for r in problem.restorables.values()
    ]
    for chosen in product(*listed):
        frontiers = dict(zip(graph.domains, chosen, strict=True))
        choice = FamilyChoice(
            graph, problem.restorables, frontiers, largest_f_n(problem, frontiers)
        )
        if not violations(choice):
            found.append(frontiers)
    return found


def largest_f_n(problem: Maker, frontiers: dict) -> dict:
    """The largest notification frontiers within ``frontiers``."""
    graph, notifications, before = problem.graph, dict(frontiers), None
    while before != notifications:
        before = dict(notifications)
        choice = FamilyChoice(graph, problem.restorables, frontiers, notifications)
        for edge in graph.edges.values():
            fixed = choice.projected(edge, notifications[edge.source])
            q = edge.target
            notifications[q] = graph.domains[q].limited(notifications[q], edge.name, fixed)
    return notifications


def within(left: dict, right: dict) -> bool:
    return all(left[p] <= right[p] for p in left)


def test_the_choice_is_maximal_and_says_whether_it_is_the_largest() -> None:
    largest = only_maximal = 0
    for seed in range(SEEDS):
        problem = Maker(seed)
        solution = solve(problem.graph, problem.restorables)
        assert violations(solution.choice) == [], f"seed {seed}"
        choices = consistent(problem)
        larger = [c for c in choices if within(solution.frontiers, c) and c != solution.frontiers]
        assert not larger, f"seed {seed}: {solution.frontiers} is inside {larger[0]}"
        unique = all(within(c, solution.frontiers) for c in choices)
        assert solution.maximum == unique, f"seed {seed}"
        largest, only_maximal = largest + unique, only_maximal + (not unique)
    assert min(largest, only_maximal) > SEEDS // 30


def test_the_same_choice_every_time_and_a_reason_for_everyone_below_a_larger_one() -> None:
    for seed in range(SEEDS // 4):
        problem = Maker(seed)
        solution, again = (solve(problem.graph, problem.restorables) for _ in range(2))
        assert solution.frontiers == again.frontiers
        for p, reasons in solution.reasons.items():
            listed = getattr(problem.restorables[p], "frontiers", [])
            f = solution.frontiers[p]
            if any(f <= g != f for g in listed):
                assert reasons, f"seed {seed}: {p}"


def test_families_that_are_chains_give_what_chains_give() -> None:
    for seed in range(SEEDS // 3):
        problem = Maker(seed, kinds="c")
        chains = {p: r for p, r in problem.restorables.items() if isinstance(r, Chain)}
        families = dict(problem.restorables)
        for p, chain in chains.items():
            rows = [
                Checkpoint(
                    f,
                    chain.notified[i],
                    {d: column[i] for d, column in chain.processed.items()},
                    {e: column[i] for e, column in chain.discarded.items()},
                    {e: column[i] for e, column in chain.projected.items()},
                )
                for i, f in enumerate(chain.frontiers)
            ]
            families[p] = Family(problem.graph, p, rows[::-1])
        expected, found = solve(problem.graph, problem.restorables), solve(problem.graph, families)
        assert found.maximum
        assert found.frontiers == expected.frontiers
        assert found.notifications == expected.notifications


def test_two_frontiers_that_exclude_each_other() -> None:
    """p saved two iterations apart; q can follow either and not both."""
    graph = Graph({"p": PRODUCT, "q": PRODUCT}, [Edge("e", "p", "q", Identity(PRODUCT, PRODUCT))])
    early, late = PRODUCT.frontier([(0, 5)]), PRODUCT.frontier([(3, 0)])
    saved = [Checkpoint(f) for f in (PRODUCT.empty, early, late)]
    solution = solve(graph, {"p": Family(graph, "p", saved), "q": Family(graph, "q", saved)})
    assert not solution.maximum
    assert solution.frontiers == {"p": late, "q": late}, "of the maximal ones the newest"


def test_a_family_has_the_empty_frontier_and_none_twice() -> None:
    graph = Graph({"p": PRODUCT}, [])
    some = Checkpoint(PRODUCT.frontier([(1, 1)]))
    with pytest.raises(DefinitionError, match="lacks ∅"):
        Family(graph, "p", [some])
    with pytest.raises(DefinitionError, match="twice"):
        Family(graph, "p", [Checkpoint(PRODUCT.empty), some, some])
