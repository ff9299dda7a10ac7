"""Strongly connected components: a loop in a loop."""

from falkirk.differential.collection import Collection
from falkirk.differential.graphs.labels import spread, vertices


def strongly_connected_components(edges: Collection, *, name: str | None = None) -> Collection:
    """The component of each vertex, named by its least vertex: ``node`` and ``component``.

    In the outer loop, edges are dropped whose ends are not reached from the same least vertex, in
    one direction and then in the other. What is left are the edges inside of components.
    """
    within = edges.distinct().iterate(
        lambda left: _reversed_within(_reversed_within(left)), name=name or "strong"
    )
    labelled = spread(within, vertices(within).map("node", "node AS label"))
    alone = vertices(edges).antijoin(labelled.map("node"), "node")
    return labelled.concat(alone.map("node", "node AS label")).map("node", "label AS component")


def _reversed_within(edges: Collection) -> Collection:
    """The edges whose two ends have the same least vertex before them, turned around."""
    labels = spread(edges, vertices(edges).map("node", "node AS label"))
    starts = edges.join(labels.map("node AS src", "label"), "src")
    same = starts.join(labels.map("node AS dst", "label"), ("dst", "label"))
    return same.map("dst AS src", "src AS dst")
