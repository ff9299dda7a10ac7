"""Connected components: which graphs are measured, in which order, and what is made of it."""

from pathlib import Path

import pyarrow.parquet as pq
from benchmarks.components import showing
from benchmarks.components.by_spark import AGAIN
from benchmarks.components.comparing import Found, turns
from benchmarks.components.following import LAZY, NONE, Run
from benchmarks.components.graph import Graph
from benchmarks.components.peers import PATHWAY, Pathway

GRAPH = Graph(200, 9, 20)


def test_peers_run_before_between_and_after_rounds_of_policies() -> None:
    assert turns([NONE, LAZY], 2, 3) == [
        *(AGAIN, PATHWAY, NONE, LAZY),
        *(PATHWAY, AGAIN, LAZY, NONE),
        *(AGAIN, PATHWAY),
    ]
    assert turns([NONE, LAZY], 3, 2) == [
        *(AGAIN, PATHWAY, NONE, LAZY, LAZY, NONE),
        *(PATHWAY, AGAIN, NONE, LAZY),
    ]


def test_the_edges_of_a_moment_are_all_that_came_and_did_not_go(tmp_path: Path) -> None:
    edges = GRAPH.make(tmp_path / "graph")
    assert sorted(edges) == sorted(GRAPH.moments) == [1, 5, 9]
    for moment, table in edges.items():
        left: list[tuple[int, int]] = []
        for epoch in range(moment + 1):
            read = pq.read_table(tmp_path / "graph" / f"{epoch:06}.parquet").to_pylist()
            left += [(row["src"], row["dst"]) for row in read if row["change"] > 0]
            for row in read:
                if row["change"] < 0:
                    left.remove((row["src"], row["dst"]))
        assert sorted(left) == sorted((row["src"], row["dst"]) for row in table.to_pylist())


def test_what_is_scaled_up_says_so_and_everything_has_a_spread() -> None:
    found = Found(again=[4.0, 5.0, 6.0], pathway=[Run(1.0, each, {}) for each in (8.0, 9.0, 11.0)])
    found.runs[NONE] = [Run(1.0, 9.0, {}), Run(1.0, 11.0, {})]
    rows = {row[0]: row[1:3] for row in showing.runtimes(GRAPH, found).rows}
    assert rows[NONE] == ["11.0 (10.0 to 12.0)", "1.00× (1.00× to 1.00×)"]
    assert rows[AGAIN] == [
        "50 (40 to 60), scaled up from 3 of 10 epochs",
        "4.5× (3.3× to 6.0×)",
    ]
    assert rows["Pathway, nothing is saved"][0] == "10.0 (9.0 to 12.0)"


def test_who_failed_on_a_graph_is_not_asked_again_about_it(tmp_path: Path) -> None:
    peer = Pathway(python=tmp_path / "no-such-python")
    assert peer.followed(tmp_path / "graph") is None
    (line, *_) = peer.trouble["graph"]
    peer.python = None
    assert "no-such-python" in line
    assert peer.followed(tmp_path / "graph") is None
