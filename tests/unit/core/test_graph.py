"""Graphs: what cannot be a graph is refused with the place."""

import pytest

from falkirk.core import (
    EPOCH,
    Custom,
    DefinitionError,
    Edge,
    Feedback,
    Graph,
    Identity,
    Recorded,
    Structured,
)

SAME = Identity(EPOCH, EPOCH)
LOOP = Structured(2)


def test_an_edge_to_nowhere() -> None:
    with pytest.raises(DefinitionError, match="edge 'e' names an unknown processor 'q'"):
        Graph({"p": EPOCH}, [Edge("e", "p", "q", SAME)])
    with pytest.raises(DefinitionError, match="edge 'e' names an unknown processor 'o'"):
        Graph({"p": EPOCH}, [Edge("e", "o", "p", SAME)])


def test_an_edge_defined_twice() -> None:
    twice = [Edge("e", "p", "q", SAME), Edge("e", "q", "p", SAME)]
    with pytest.raises(DefinitionError, match="edge 'e' is defined twice"):
        Graph(dict.fromkeys("pq", EPOCH), twice)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_cycle_in_which_time_stands_still(length: int) -> None:
    names = "pqr"[:length]
    ring = [Edge(f"e{i}", names[i - 1], p, SAME) for i, p in enumerate(names)]
    with pytest.raises(DefinitionError, match="has no feedback and no recorded edge") as caught:
        Graph(dict.fromkeys(names, EPOCH), ring)
    assert all(f"{p}" in str(caught.value) for p in names)


def test_a_custom_projection_does_not_by_itself_move_time() -> None:
    custom = Edge("e", "p", "p", Custom(lambda f: f))
    with pytest.raises(DefinitionError, match="time stands still"):
        Graph({"p": EPOCH}, [custom])


def test_a_cycle_through_feedback_or_a_recorded_edge() -> None:
    around = [
        Edge("e", "p", "q", Identity(LOOP, LOOP)),
        Edge("f", "q", "p", Feedback(LOOP, LOOP)),
    ]
    Graph(dict.fromkeys("pq", LOOP), around)
    Graph({"p": EPOCH}, [Edge("e", "p", "p", Recorded())])


def test_several_edges_between_the_same_two() -> None:
    edges = [Edge(name, "p", "q", SAME) for name in "cab"]
    graph = Graph(dict.fromkeys("pq", EPOCH), edges)
    assert [edge.name for edge in graph.outputs("p")] == ["c", "a", "b"]
    assert graph.inputs("q") == edges
    assert graph.inputs("p") == graph.outputs("q") == []
