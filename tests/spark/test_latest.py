"""The latest bridge on Spark: fast rows are joined with the newest version of something slow."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("cached", [False, True], ids=["small", "cached"])
def test_every_fast_row_meets_one_version_and_versions_never_go_back(
    spark: SparkSession, tmp_path: Path, cached: bool
) -> None:
    flow = fk.Dataflow("bridge")
    slow = flow.read(Numbers(rows=12, rows_per_epoch=2), name="slow")
    totals = slow.group_by("value - value AS k").agg(total="sum(value)", policy=fk.lazy(every=2))
    fast = flow.read(Numbers(rows=40, rows_per_epoch=2, rows_per_second=20), name="fast")
    keyed = fast.select("value", "CAST(0 AS BIGINT) AS k")
    answers = Remembered()
    joined = keyed.join_latest(
        totals, on="k", how="left", otherwise={"total": "CAST(-1 AS BIGINT)"}
    )
    joined.write(answers, name="answers")
    run(flow, tmp_path, spark, options=Options(small_bytes_max=0) if cached else Options())

    assert sorted(row["value"] for row in answers.rows()) == list(range(40))
    versions = [answers.times[time][0]["total"] for time in sorted(answers.times)]
    assert versions == sorted(versions)
    allowed = {-1, *(sum(range(2 * n + 2)) for n in range(6))}
    assert set(versions) <= allowed
