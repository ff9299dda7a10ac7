"""Stateless processors that are alive and say what they have done: the solver and the dumb one."""

import json
from typing import Any

import pytest
from tests.properties.dumb import Dumb
from tests.properties.problems import random_live_problem
from tests.scale import scaled

from falkirk.core import AnyFrontier, Checkpoint, violations
from falkirk.core.problem import read_problem, write_solution
from falkirk.core.problem.frontiers import read_frontier
from falkirk.core.rollback import Solution, solve

SEEDS, BLOCKS = scaled(3_000), 8


def solution(problem: dict) -> Solution:
    """The solver's answer, with what each has done given to it beside the document."""
    lives = {p: body["live"] for p, body in problem["processors"].items() if "live" in body}
    plain = {
        p: {key: value for key, value in body.items() if key != "live"}
        for p, body in problem["processors"].items()
    }
    graph, restorables = read_problem(json.dumps({**problem, "processors": plain}))
    edges = graph.edges

    def on(e: str, value: Any) -> Any:
        target = edges[e].target
        names = [d.name for d in graph.inputs(target)]
        read = read_frontier("live", graph.domains[target], names, value)
        return graph.domains[target].part(read, e)

    for p, live in lives.items():
        names = [d.name for d in graph.inputs(p)]
        restorable = restorables[p]
        assert isinstance(restorable, AnyFrontier)
        restorable.live = Checkpoint(
            graph.domains[p].top,
            read_frontier("live", graph.domains[p], names, live["notified"]),
            {d: on(d, value) for d, value in live["processed"].items()},
            {e: on(e, value) for e, value in live["discarded"].items()},
        )
    return solve(graph, restorables)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_solver_equals_the_dumb_one(block: int) -> None:
    for seed in range(block, SEEDS, BLOCKS):
        problem = random_live_problem(seed)
        found, dumb = solution(problem), Dumb(problem)
        answer = write_solution(found)
        theirs = dumb.largest()
        mine = answer["frontiers"], answer["notification_frontiers"]
        for ours, expected in zip(mine, theirs, strict=True):
            for p in expected:
                got = dumb.real(p, dumb.parse(p, ours[p]))
                assert got == dumb.real(p, expected[p]), f"seed {seed}, {p}"


def test_the_answers_are_consistent_and_explained() -> None:
    for seed in range(SEEDS // 5):
        found = solution(random_live_problem(seed))
        assert not violations(found.choice), f"seed {seed}"
        assert all(found.reasons.values()), f"seed {seed}: lowered for no reason"


def without_live(problem: dict) -> dict:
    """The problem as the exchange format has it: who is alive has done all that it could."""
    processors = {
        p: {key: value for key, value in body.items() if key != "live"}
        for p, body in problem["processors"].items()
    }
    return {**problem, "processors": processors}


def test_who_has_done_nothing_is_not_interrupted() -> None:
    """Whoever has done nothing at all keeps ⊤, and nobody keeps less because of it."""
    gained = 0
    for seed in range(SEEDS // 5):
        problem = random_live_problem(seed)
        idle = [p for p, body in problem["processors"].items() if "live" in body]
        for p in idle:
            live = problem["processors"][p]["live"]
            live["notified"] = "empty"
            for done in (live["processed"], live["discarded"]):
                done.update(dict.fromkeys(done, "empty"))
        told, untold = solution(problem).frontiers, solution(without_live(problem)).frontiers
        assert all(told[p].is_top for p in idle)
        assert all(untold[p] <= told[p] for p in untold)
        gained += sum(not untold[p].is_top for p in idle)
    assert gained > 0
