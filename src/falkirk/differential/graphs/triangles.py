"""Triangles."""

from falkirk.differential.collection import Collection


def triangles(edges: Collection, *, name: str | None = None) -> Collection:
    """Three vertices that are all neighbours, ``a < b < c``, once for each such three.

    The direction of edges does not matter, nor do repeated ones and those from a vertex to itself.
    """
    ordered = ["least(src, dst) AS a", "greatest(src, dst) AS b"]
    simple = edges.filter("src != dst").map(*ordered).distinct()
    wedges = simple.join(simple.map("a AS b", "b AS c"), "b")
    closing = simple.map("a", "b AS c")
    return wedges.join(closing, ("a", "c")).map("a", "b", "c", name=name)


def triangle_counts(edges: Collection, *, name: str | None = None) -> Collection:
    """How many triangles each vertex is a corner of, if it is one: ``node`` and ``triangles``."""
    found = triangles(edges)
    corners = found.map("a AS node").concat(found.map("b AS node"), found.map("c AS node"))
    return corners.group_by("node").count("triangles", name=name)
