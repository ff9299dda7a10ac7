"""Path summaries: composition laws, nested loops, and cycles that cannot advance."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.paper.builders import graph_of

from falkirk.core import EPOCH, DefinitionError, Graph, Structured
from falkirk.core.machine.summary import Summary, edge_summary, path_summaries
from falkirk.core.order import product_leq
from falkirk.core.times import Time

LOOP, INNER = Structured(2), Structured(3)


@st.composite
def walks(draw: st.DrawFn, start: int | None = None) -> tuple[int, list[Summary]]:
    """A depth and the summaries of a walk of edges that begins there."""
    depth = first = draw(st.integers(1, 3)) if start is None else start
    steps = []
    for _ in range(draw(st.integers(0, 6))):
        kinds = ["same", "enter", *(["leave", "around"] if depth > 1 else [])]
        match draw(st.sampled_from(kinds)):
            case "same":
                steps.append(Summary(depth))
            case "enter":
                steps.append(Summary(depth, 0, (0,)))
                depth += 1
            case "leave":
                steps.append(Summary(depth - 1))
                depth -= 1
            case "around":
                steps.append(Summary(depth, 1))
    return first, steps


def composed(depth: int, steps: list[Summary]) -> Summary:
    path = Summary(depth)
    for step in steps:
        path = path.then(step)
    return path


def times(depth: int) -> st.SearchStrategy[Time]:
    return st.tuples(*[st.integers(0, 4)] * depth)


@given(walks(), st.data())
def test_a_composed_summary_does_what_its_steps_do_in_turn(
    walk: tuple[int, list[Summary]], data: st.DataObject
) -> None:
    depth, steps = walk
    time = stepped = data.draw(times(depth))
    for step in steps:
        stepped = step.apply(stepped)
    assert composed(depth, steps).apply(time) == stepped


@given(walks(), st.data())
def test_composition_is_associative(walk: tuple[int, list[Summary]], data: st.DataObject) -> None:
    depth, steps = walk
    cut = data.draw(st.integers(0, len(steps)))
    first = composed(depth, steps[:cut])
    middle = first.keep + len(first.suffix)
    assert first.then(composed(middle, steps[cut:])) == composed(depth, steps)


@given(walks(), st.data())
def test_a_summary_is_monotone(walk: tuple[int, list[Summary]], data: st.DataObject) -> None:
    depth, steps = walk
    path = composed(depth, steps)
    low = data.draw(times(depth))
    high = tuple(a + b for a, b in zip(low, data.draw(times(depth)), strict=True))
    assert product_leq(path.apply(low), path.apply(high))


@given(walks(), st.data())
def test_one_that_dominates_is_never_later(
    walk: tuple[int, list[Summary]], data: st.DataObject
) -> None:
    depth, steps = walk
    path = composed(depth, steps)
    _, others = data.draw(walks(start=depth))
    other = composed(depth, others)
    if len(other.suffix) + other.keep == len(path.suffix) + path.keep and path.dominates(other):
        time = data.draw(times(depth))
        assert product_leq(path.apply(time), other.apply(time))


def test_the_summaries_of_the_four_edges() -> None:
    graph = graph_of(
        {"p": EPOCH, "b": LOOP, "q": EPOCH},
        i="p > b by enter",
        o="b > q by leave",
        f="b > b by feedback",
        s="p > q",
    )
    shown = {name: edge_summary(edge.projection) for name, edge in graph.edges.items()}
    assert shown["i"].apply((5,)) == (5, 0)
    assert shown["o"].apply((5, 3)) == (5,)
    assert shown["f"].apply((5, 3)) == (5, 4)
    assert shown["s"].apply((5,)) == (5,)


def one_loop() -> Graph:
    return graph_of(
        {"p": EPOCH, "b": LOOP, "q": EPOCH},
        i="p > b by enter",
        f="b > b by feedback",
        o="b > q by leave",
    )


def test_the_shortest_way_decides() -> None:
    found = path_summaries(one_loop())
    assert found["p", "b"] == (Summary(1, 0, (0,)),), "going around is only later"
    assert found["p", "q"] == (Summary(1),)
    assert found["b", "b"] == (Summary(2),)
    assert ("q", "p") not in found


def nested() -> Graph:
    """A loop within a loop, whose outer feedback starts inside the outer loop."""
    return graph_of(
        {"p": EPOCH, "outer": LOOP, "inner": INNER, "back": LOOP, "q": EPOCH},
        i="p > outer by enter",
        ii="outer > inner by enter",
        ff="inner > inner by feedback",
        oo="inner > back by leave",
        f="back > outer by feedback",
        o="back > q by leave",
    )


def test_loops_may_be_nested() -> None:
    found = path_summaries(nested())
    assert found["p", "inner"] == (Summary(1, 0, (0, 0)),)
    assert found["outer", "outer"] == (Summary(2),)
    assert found["inner", "q"] == (Summary(1),)


def test_outer_feedback_through_the_inner_loop() -> None:
    """From one iteration of the inner loop one gets to a smaller counter, in a later outer one."""
    found = path_summaries(nested())
    assert set(found["inner", "inner"]) == {Summary(3), Summary(2, 1, (0,))}
    reached = {path.apply((0, 0, 7)) for path in found["inner", "inner"]}
    assert reached == {(0, 0, 7), (0, 1, 0)}


def test_summaries_agree_with_walks_in_the_graph() -> None:
    """Every walk of up to eight edges is no earlier than some summary, and each summary is one."""
    graph = nested()
    found = path_summaries(graph)
    walked: dict[tuple[str, str], set[Summary]] = {}
    ends = [(p, p, Summary(domain.depth)) for p, domain in graph.domains.items()]
    for _ in range(9):
        following = []
        for start, end, path in ends:
            walked.setdefault((start, end), set()).add(path)
            following += [
                (start, edge.target, path.then(edge_summary(edge.projection)))
                for edge in graph.outputs(end)
            ]
        ends = following
    assert set(walked) == set(found)
    for pair, paths in walked.items():
        assert set(found[pair]) <= paths
        assert all(any(best.dominates(path) for best in found[pair]) for path in paths)


def test_no_summary_is_dominated_by_another() -> None:
    for paths in path_summaries(nested()).values():
        assert not any(a is not b and a.dominates(b) for a, b in product(paths, paths))


@pytest.mark.parametrize("around", [1, 2, 3])
def test_a_cycle_that_leaves_the_loop_it_advances_is_refused(around: int) -> None:
    """Enter, go around a few times, leave, and you are back where you were."""
    bodies = {f"b{i}": LOOP for i in range(around + 1)}
    turns = {f"f{i}": f"b{i} > b{i + 1} by feedback" for i in range(around)}
    graph = graph_of(
        {"p": EPOCH, **bodies}, i="p > b0 by enter", **turns, o=f"b{around} > p by leave"
    )
    with pytest.raises(DefinitionError, match="without advancing time"):
        path_summaries(graph)


def test_an_inner_loop_does_not_advance_the_outer_one() -> None:
    graph = graph_of(
        {"p": EPOCH, "outer": LOOP, "first": INNER, "second": INNER},
        i="p > outer by enter",
        ii="outer > first by enter",
        ff="first > second by feedback",
        oo="second > outer by leave",
    )
    with pytest.raises(DefinitionError, match="without advancing time"):
        path_summaries(graph)
