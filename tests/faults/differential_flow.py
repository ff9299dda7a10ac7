"""A differential flow alone: the components of a graph that changes, and what they should be."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from tests.faults.driver_sinks import SqliteSink
from tests.faults.driver_strikes import Striker
from tests.spark.changing import Changing, Multiset

import falkirk as fk
from falkirk.differential import graphs

EPOCHS = 8
SCHEMA = pa.schema([("src", pa.int64()), ("dst", pa.int64()), ("change", pa.int64())])
DATABASE = "outside.sqlite"


def edges() -> Changing:
    """Edges that come and go, the same in every process."""

    def draw(rng: Random) -> tuple[int, int]:
        return rng.randrange(16), rng.randrange(16)

    return Changing(["src", "dst"], draw, EPOCHS, changes=8, seed=5)


def components(folder: Path, striker: Striker) -> fk.Dataflow:
    """The flow; what is in its loop saves after every round."""
    flow = fk.Dataflow("components")
    with flow.policy(fk.lazy(round_seconds=0)):
        found = graphs.connected_components(edges().read(flow, "edges", SCHEMA))
    found.changes().write(SqliteSink(folder / DATABASE, striker), name="out")
    return flow


def expected() -> list[Multiset]:
    """The components after each epoch, computed anew by other means."""
    import networkx as nx  # large, and no driver that is killed needs it

    found = []
    for sums in edges().sums:
        groups = nx.connected_components(nx.Graph(list(sums)))
        found.append(Counter((node, min(group)) for group in groups for node in group))
    return found


def judge_components(folder: Path) -> list[str]:
    """What is wrong with what the outside saw."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        shown, tried = (
            connection.execute(f"SELECT epoch, content FROM {table}").fetchall()
            for table in ("rows", "attempts")
        )
    wrong = [
        f"epoch {e} was shown {n} times" for e, n in Counter(e for e, _ in shown).items() if n > 1
    ]
    wrong += [f"epoch {e} was tried with other rows" for e in contradicted(tried)]
    now: Multiset = Counter()
    changes = dict(shown)
    for epoch, right in enumerate(expected()):
        for row in json.loads(changes.get(epoch, "[]")):
            now[row["node"], row["component"]] += row["change"]
        if Counter({row: count for row, count in now.items() if count}) != right:
            wrong.append(f"epoch {epoch}: {sorted(+now)} and not {sorted(right)}")
    return wrong


def contradicted(tried: Iterable[tuple[int, Any]]) -> list[int]:
    """The epochs that were tried with different rows."""
    found: dict[int, set[Any]] = {}
    for epoch, content in tried:
        found.setdefault(epoch, set()).add(content)
    return sorted(epoch for epoch, contents in found.items() if len(contents) > 1)
