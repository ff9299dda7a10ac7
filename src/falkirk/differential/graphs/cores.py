"""Cores: what is left when vertices with few neighbours are taken away, again and again."""

from falkirk.dataflow.location import refusal
from falkirk.differential.collection import Collection
from falkirk.differential.graphs.labels import undirected


def k_core(edges: Collection, k: int, *, name: str | None = None) -> Collection:
    """The vertices of the largest subgraph in which each has ``k`` neighbours or more: ``node``.

    The direction of edges does not matter, nor do repeated ones and those from a vertex to itself.
    """
    if k < 1:
        raise refusal(f"a core has at least one neighbour for each vertex, not {k}")
    simple = undirected(edges).filter("src != dst").distinct()

    def enough(left: Collection) -> Collection:
        return left.map("src AS node").threshold(lambda degree: int(degree >= k))

    def without_few(left: Collection) -> Collection:
        nodes = enough(left)
        starts = simple.join(nodes.map("node AS src"), "src")
        return starts.join(nodes.map("node AS dst"), "dst").map("src", "dst")

    return enough(simple.iterate(without_few, name=name or "core"))
