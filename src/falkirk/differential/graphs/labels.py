"""Spreading the least label along edges: the heart of both kinds of components."""

from falkirk.differential.collection import Collection
from falkirk.differential.loop import ROUNDS_MAX

ROUNDS_EACH = 64
"""How many rounds the labels of one length have to themselves before longer ones come in."""

ROUND = f"CAST({ROUNDS_EACH} * CEIL(LOG2(GREATEST(label, 0) + 1)) AS INT) AS round"
"""Short labels first: they reach most vertices before the others would make any effort."""

LENGTHS = 64


def vertices(edges: Collection) -> Collection:
    """The vertices that an edge has: the column ``node``."""
    return edges.map("src AS node").concat(edges.map("dst AS node")).distinct()


def undirected(edges: Collection) -> Collection:
    """Each edge in both directions."""
    return edges.concat(edges.map("dst AS src", "src AS dst"))


def spread(
    edges: Collection, labels: Collection, name: str | None = None, at_once: bool = False
) -> Collection:
    """The least label from which a way leads to each vertex: the columns ``node`` and ``label``.

    ``labels`` has for each vertex the label that it begins with. With ``at_once`` all of them set
    out in the first round: fewer rounds, and more work in each.
    """
    begun = labels.map("node AS src", "label", "0 AS round" if at_once else ROUND)
    with begun.loop(rounds_max=ROUNDS_MAX + ROUNDS_EACH * LENGTHS, name=name) as loop:
        best = loop.variable()
        told = best.now.join(edges, "src").map("dst AS src", "label")
        least = told.concat(loop.enter(begun).delayed("round")).group_by("src").min("label")
        best.set(least)  # as it is, so that what is kept of it here and in the join is written once
        return loop.leave(least).map("src AS node", "label")
