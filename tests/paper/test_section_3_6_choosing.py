"""§3.6, choosing consistent frontiers: convergence, the largest choice, and more checkpoints."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.paper.builders import epochs, graph_of, largest_choice, upto
from tests.properties.problems import random_problem

from falkirk.core import (
    EPOCH,
    AnyFrontier,
    Chain,
    Checkpoint,
    Event,
    Graph,
    History,
    Message,
    RecoveryError,
    Restorable,
    Structured,
    read_problem,
    solve,
    violations,
)

GRAPHS = (
    epochs("pqr", a="p > q", b="q > r", c="p > r"),
    epochs("pqr", a="p > r", b="q > r"),
    graph_of(dict.fromkeys("pq", EPOCH), a="p > q", b="q > p by recorded"),
)
SMALL = st.sampled_from([upto(), upto(0), upto(1), upto(2)])


@st.composite
def saved_states(draw: st.DrawFn) -> tuple[Graph, dict[str, list[Checkpoint]]]:
    """A graph of epochs and, for each processor, up to two checkpoints beside ∅."""
    graph = draw(st.sampled_from(GRAPHS))
    found = {}
    for p in graph.domains:
        rows = [Checkpoint(EPOCH.empty)]
        fixed = {e.name: EPOCH.empty for e in graph.outputs(p) if e.projection.recorded}
        for frontier in draw(st.sampled_from([[], [upto(0)], [upto(1)], [upto(0), upto(2)]])):
            fixed = {e: f | draw(SMALL) for e, f in fixed.items()}
            processed = {d.name: frontier & draw(SMALL) for d in graph.inputs(p)}
            discarded = {e.name: draw(SMALL) for e in graph.outputs(p)}
            noted = frontier & draw(SMALL)
            rows.append(Checkpoint(frontier, noted, processed, discarded, fixed))
        found[p] = rows
    return graph, found


def chains(graph: Graph, saved: dict[str, list[Checkpoint]]) -> dict[str, Chain]:
    return {p: Chain(graph, p, rows) for p, rows in saved.items()}


@given(saved_states())
def test_the_algorithm_returns_the_maximal_globally_consistent_frontiers(problem: Any) -> None:
    """§3.6: "In such systems the algorithm will at every p return the maximal globally-consistent
    frontier".
    """
    graph, saved = problem
    solution = solve(graph, chains(graph, saved))
    assert violations(solution.choice) == []
    anywhere = [upto(), upto(0), upto(1), upto(2)]
    found = largest_choice(graph, chains(graph, saved), notifications=anywhere)
    assert dict(solution.frontiers) == found


@given(saved_states(), st.data())
def test_adding_choices_never_makes_any_frontier_smaller(problem: Any, data: st.DataObject) -> None:
    """§3.6: "adding choices of f to F*(p) at any p will never cause f(p') to get smaller for any
    p'—a valid set of frontiers remains valid as more checkpoints are saved".
    """
    graph, saved = problem
    p = data.draw(st.sampled_from(sorted(saved)))
    dropped = data.draw(st.integers(0, len(saved[p]) - 1))
    fewer = {**saved, p: [row for i, row in enumerate(saved[p]) if not i or i != dropped]}
    before, after = (solve(graph, chains(graph, rows)).frontiers for rows in (fewer, saved))
    assert all(before[q] <= after[q] for q in before)


def test_the_fixed_point_is_reached_from_any_problem() -> None:
    """§3.6: "As long as ∅ ∈ F*(p) ∀p … the algorithm will always converge since neither f nor f_n
    ever increases, and f(p)=f_n(p)=∅ ∀p satisfies all constraints".
    """
    for seed in range(300):
        graph, restorables = read_problem(json.dumps(random_problem(seed)))
        solution = solve(graph, restorables)
        assert violations(solution.choice) == [], f"seed {seed}"


def test_a_loop_descends_one_iteration_at_a_time_and_stops_at_the_start() -> None:
    """Convergence at its worst: nothing is logged, so each trip around costs one iteration."""
    loop = Structured(2)
    graph = graph_of({"q": loop, "y": loop}, e="q > y", c="y > q by feedback")
    states: dict[str, Restorable] = {
        "q": AnyFrontier(upto(0, 500)),
        "y": AnyFrontier(upto(0, 400), failed=True),
    }
    assert solve(graph, states).frontiers == {"q": loop.empty, "y": loop.empty}


def test_without_an_initial_state_there_may_be_no_choice() -> None:
    """§3.6: "As long as ∅ ∈ F*(p)": what happens otherwise is said, not guessed."""
    graph = epochs("pq", e="p > q")
    states = {
        "p": Chain(graph, "p", [Checkpoint(upto(1))]),
        "q": Chain(graph, "q", [Checkpoint(upto(3))]),
    }
    with pytest.raises(RecoveryError, match=r"'q' would have to roll back below ↓\(3\)"):
        solve(graph, states)


def test_the_state_after_a_rollback() -> None:
    """§3.6: "its state is reset as follows": F*', H' and Q' for a chosen f(p)."""
    graph = epochs("apb", d="a > p", e="p > b")
    sent = [Message("e", (t,), logged=True) for t in range(4)]
    order = (2, 0, 3, 1)
    events = tuple(Event((t,), "d", (sent[t],)) for t in order)
    history = History(graph, "p", events)
    rows = [history.checkpoint(f) for f in (EPOCH.empty, upto(0), upto(1), upto(2))]
    chain = Chain(graph, "p", rows)
    f = upto(1)
    chain.truncate(chain.largest_inside(f) + 1)
    assert chain.frontiers == [EPOCH.empty, upto(0), upto(1)], "F*' has what lies inside f"
    assert [event.time for event in history.at(f).events] == [(0,), (1,)], "H' = H@f"
    assert history.resent("e", f, upto(0)) == (sent[1],), "Q' is logged, and outside of f(dst)"
    assert chain.processed["d"] == [EPOCH.empty, upto(0), upto(1)]
