"""PageRank with whole numbers, so that ranks can be added and taken away without rounding twice."""

from falkirk.dataflow.location import refusal
from falkirk.differential.collection import Collection
from falkirk.differential.graphs.labels import vertices

UNIT = 1_000_000
"""The rank that a vertex has on average, as a whole number."""


def pagerank(
    edges: Collection, rounds: int = 20, *, damping: int = 85, name: str | None = None
) -> Collection:
    """Ranks of vertices in millionths of the average, after so many rounds: ``node``, ``rank``.

    In each round a vertex hands ``damping`` percent of its rank to those to which its edges lead,
    in equal parts that are rounded down, and everyone gets the rest of the average for nothing.
    A repeated edge counts as often as it is there. What a vertex without edges would hand on is
    lost, so that ranks add up to less than one each on average.
    """
    if not 0 < damping < 100:
        raise refusal(f"damping is a percentage between 1 and 99, not {damping}")
    if rounds < 1:
        raise refusal(f"ranks need at least one round, not {rounds}")
    nodes = vertices(edges)
    degrees = edges.group_by("src").count("degree")
    gift = nodes.map("node", f"CAST({UNIT * (100 - damping) // 100} AS BIGINT) AS part")
    begun = nodes.map("node", f"CAST({UNIT} AS BIGINT) AS rank")

    def handed_on(ranks: Collection) -> Collection:
        shares = ranks.map("node AS src", "rank").join(degrees, "src")
        parts = shares.map("src", f"(rank * {damping}) DIV (100 * degree) AS part")
        received = parts.join(edges, "src").map("dst AS node", "part")
        return received.concat(gift).group_by("node").sum(rank="part")

    return begun.iterate(handed_on, rounds=rounds, name=name or "pagerank")
