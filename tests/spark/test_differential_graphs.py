"""Graph algorithms after every epoch of insertions and deletions, against networkx."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import networkx as nx
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.changing import Changing, Multiset, check

import falkirk as fk
from falkirk.differential import Collection, collection, graphs
from falkirk.runtime.options import Options
from falkirk.testing.script import Rows, Script

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("src", pa.int64()), ("dst", pa.int64()), ("change", pa.int64())])
ROOTS = (0, 5)
Epochs = list[Multiset]


def graph(edges: Multiset) -> nx.MultiDiGraph:
    return nx.MultiDiGraph([edge for edge, count in edges.items() for _ in range(count)])


def simple(edges: Multiset) -> nx.Graph:
    found = nx.Graph(graph(edges))
    found.remove_edges_from(list(nx.selfloop_edges(found)))
    return found


def named(groups: Iterable[set[int]]) -> Multiset:
    return Counter((node, min(group)) for group in groups for node in group)


def weak(edges: Multiset) -> Multiset:
    return named(nx.weakly_connected_components(graph(edges)))


def strong(edges: Multiset) -> Multiset:
    return named(nx.strongly_connected_components(graph(edges)))


def hops(edges: Multiset) -> Multiset:
    found = graph(edges)
    found.add_nodes_from(ROOTS)
    return Counter(nx.multi_source_dijkstra_path_length(found, set(ROOTS)).items())


def reached(edges: Multiset) -> Multiset:
    return Counter((node,) for node, _ in hops(edges))


def cliques(edges: Multiset) -> Multiset:
    found = nx.enumerate_all_cliques(simple(edges))
    return Counter(tuple(sorted(clique)) for clique in found if len(clique) == 3)


def corners(edges: Multiset) -> Multiset:
    return Counter((node, count) for node, count in nx.triangles(simple(edges)).items() if count)


def core(edges: Multiset) -> Multiset:
    return Counter((node,) for node in nx.k_core(simple(edges), 2) if simple(edges).degree(node))


def ranks(edges: Multiset, rounds: int = 4) -> Multiset:
    """PageRank as networkx has it, with the library's whole numbers."""
    found = graph(edges)
    now = dict.fromkeys(found, 1_000_000)
    for _ in range(rounds):
        parts = {node: now[node] * 85 // (100 * max(found.out_degree(node), 1)) for node in found}
        now = {
            node: 150_000 + sum(parts[source] for source, _ in found.in_edges(node))
            for node in found
        }
    return Counter(now.items())


def roots(flow: fk.Dataflow, epochs: int) -> Collection:
    rows: list[Rows] = [[{"node": root} for root in ROOTS], *[[] for _ in range(epochs - 1)]]
    return collection(flow.read(Script(rows, pa.schema([("node", pa.int64())])), name="roots"))


Algorithm = tuple[Callable[..., Collection], Sequence[str], Callable[[Multiset], Multiset]]
ALGORITHMS: dict[str, Algorithm] = {
    "components": (
        lambda edges, _: graphs.connected_components(edges),
        ("node", "component"),
        weak,
    ),
    "components at once": (
        lambda edges, _: graphs.connected_components(edges, at_once=True),
        ("node", "component"),
        weak,
    ),
    "distances": (graphs.distances, ("node", "distance"), hops),
    "reachable": (graphs.reachable, ("node",), reached),
    "triangles": (lambda edges, _: graphs.triangles(edges), ("a", "b", "c"), cliques),
    "triangle counts": (
        lambda edges, _: graphs.triangle_counts(edges),
        ("node", "triangles"),
        corners,
    ),
    "core": (lambda edges, _: graphs.k_core(edges, 2), ("node",), core),
}
HEAVY: dict[str, Algorithm] = {
    "strong": (
        lambda edges, _: graphs.strongly_connected_components(edges),
        ("node", "component"),
        strong,
    ),
    "ranks": (lambda edges, _: graphs.pagerank(edges, 4), ("node", "rank"), ranks),
}


class Written:
    """Changes that are written down, not drawn."""

    def __init__(self, epochs: Sequence[dict[tuple[int, int], int]]) -> None:
        self.script = [
            [{"src": a, "dst": b, "change": n} for (a, b), n in epoch.items()] for epoch in epochs
        ]
        self.sums: Epochs = []
        now: Multiset = Counter()
        for rows in self.script:
            for row in rows:
                now[row["src"], row["dst"]] += row["change"]
            now = +now
            self.sums.append(Counter(now))

    read = Changing.read


def path(start: int, end: int, weight: int = 1) -> dict[tuple[int, int], int]:
    return {(n, n + 1): weight for n in range(start, end)}


ADVERSARIAL = Written(
    [
        path(0, 9),  # a long path: as many rounds as vertices
        {(9, 0): 1},  # one edge makes it a ring
        {(4, 5): -1},  # and one takes it away again
        {(4, 5): 1, (9, 0): -1, (3, 3): 1, (20, 20): 1},  # loops of one vertex
        {(0, 1): 2, (20, 20): -1, **{(30, n): 1 for n in range(31, 36)}},  # repeated; a star
        {**path(0, 9, -1), (30, 0): 1},  # the path goes; one edge of it is still there twice
        {(0, 1): -2, (3, 3): -1, (30, 0): -1, **{(30, n): -1 for n in range(31, 36)}},
        {(1, 0): 1},
    ]
)


def compare(
    spark: SparkSession,
    changes: Any,
    algorithms: dict[str, Algorithm],
    options: Options | None = None,
    store: Any = "memory:",
) -> None:
    flow = fk.Dataflow("graphs")
    edges, begun = changes.read(flow, "edges", SCHEMA), roots(flow, len(changes.sums))
    made = {name: make(edges, begun) for name, (make, _, _) in algorithms.items()}
    wanted = {
        name: (columns, [right(sums) for sums in changes.sums])
        for name, (_, columns, right) in algorithms.items()
    }
    check(spark, flow, made, wanted, options, store)


def random_graph(nodes: int, epochs: int, changes: int, seed: int) -> Changing:
    def draw(rng: Any) -> tuple[int, int]:
        return rng.randrange(nodes), rng.randrange(nodes)

    return Changing(["src", "dst"], draw, epochs, changes, seed)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_graphs_that_change(spark: SparkSession, seed: int) -> None:
    compare(spark, random_graph(14, 15, 8, seed), ALGORITHMS)


def test_adversarial_graphs(spark: SparkSession) -> None:
    compare(spark, ADVERSARIAL, ALGORITHMS)


def test_loops_in_loops(spark: SparkSession) -> None:
    compare(spark, random_graph(9, 6, 7, seed=3), HEAVY)


def test_loops_in_loops_on_adversarial_graphs(spark: SparkSession) -> None:
    compare(spark, ADVERSARIAL, HEAVY)


def test_on_executors(spark: SparkSession) -> None:
    found = {"components": ALGORITHMS["components"]}
    compare(spark, random_graph(6, 2, 5, seed=4), found, Options(small_bytes_max=0))


def test_ranks_are_those_of_networkx() -> None:
    """The reference above is PageRank: where every vertex has a successor, up to rounding."""
    edges = Counter({(n, (n * 3 + 1) % 7): 1 for n in range(7)}) + Counter(
        {(n, (n + 2) % 7): 1 for n in range(7)}
    )
    nodes = sorted(graph(edges))
    matrix = nx.google_matrix(nx.DiGraph(graph(edges)), alpha=0.85, nodelist=nodes)
    share = [1 / len(nodes)] * len(nodes)
    for _ in range(60):
        share = list(matrix.T @ share)
    ours = {node: rank / 1_000_000 / len(nodes) for node, rank in ranks(edges, 60)}
    for node, rank in zip(nodes, share, strict=True):
        assert ours[node] == pytest.approx(rank, abs=1e-5)
