"""Searches from roots: what can be reached, and in how many steps."""

from falkirk.differential.collection import Collection


def reachable(edges: Collection, roots: Collection, *, name: str | None = None) -> Collection:
    """The vertices to which a way leads from some root, the roots among them: ``node``."""
    begun = roots.map("node").distinct()

    def further(found: Collection) -> Collection:
        following = found.map("node AS src").join(edges, "src").map("dst AS node")
        return following.concat(begun).distinct()

    return begun.iterate(further, name=name or "reachable")


def distances(edges: Collection, roots: Collection, *, name: str | None = None) -> Collection:
    """How many edges the shortest way from a root has: ``node`` and ``distance``."""
    begun = roots.map("node").distinct().map("node", "0 AS distance")

    def further(found: Collection) -> Collection:
        steps = found.map("node AS src", "distance").join(edges, "src")
        following = steps.map("dst AS node", "distance + 1 AS distance")
        return following.concat(begun).group_by("node").min("distance")

    return begun.iterate(further, name=name or "distances")
