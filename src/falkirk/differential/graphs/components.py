"""Connected components."""

from falkirk.differential.collection import Collection
from falkirk.differential.graphs.labels import spread, undirected, vertices


def connected_components(
    edges: Collection, *, name: str | None = None, at_once: bool = False
) -> Collection:
    """The component of each vertex, named by its least vertex: ``node`` and ``component``.

    The direction of edges does not matter. Short labels set out first, so that a large graph has
    little to take back; with ``at_once`` all of them do, which takes a small one fewer rounds.
    """
    nodes = vertices(edges).map("node", "node AS label")
    return spread(undirected(edges), nodes, name, at_once).map("node", "label AS component")
