"""The components computed with DataFrames, from scratch."""

import time
from typing import Any

import pyarrow as pa

AGAIN = "plain Spark, from scratch"


def from_scratch(session: Any, ends: pa.Table) -> tuple[float, dict[int, int]]:
    """Seconds to compute all components with DataFrames, as a Spark user would, and what they are.

    The least label spreads along edges, joined to the labels in each round, until none changes; a
    local checkpoint cuts the lineage.
    """
    begun = time.monotonic()
    edges = session.createDataFrame(ends)
    both = edges.union(edges.selectExpr("dst", "src")).localCheckpoint()
    labels = both.selectExpr("src AS node", "src AS label").distinct().localCheckpoint()
    while True:
        told = labels.join(both, labels.node == both.src).selectExpr("dst AS node", "label")
        least = told.union(labels).groupBy("node").agg({"label": "min"})
        new = least.withColumnRenamed("min(label)", "label").localCheckpoint()
        old = labels.withColumnRenamed("label", "before")
        changed = new.join(old, "node").where("label != before").limit(1).count()
        labels = new
        if not changed:
            break
    found = labels.toArrow()
    seconds = time.monotonic() - begun
    pairs = zip(found["node"].to_pylist(), found["label"].to_pylist(), strict=True)
    return seconds, dict(pairs)
