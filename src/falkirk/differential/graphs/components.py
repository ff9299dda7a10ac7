"""Connected components."""

from falkirk.differential.collection import Collection
from falkirk.differential.graphs.labels import spread, undirected, vertices


def connected_components(edges: Collection, *, name: str | None = None) -> Collection:
    """The component of each vertex, named by its least vertex: ``node`` and ``component``.

    The direction of edges does not matter.
    """
    nodes = vertices(edges).map("node", "node AS label")
    return spread(undirected(edges), nodes, name).map("node", "label AS component")
