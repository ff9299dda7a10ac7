"""Has Spark load the classes that flows need, in a JVM of its own: see :mod:`.startup`."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.sql import Observation
from pyspark.sql import functions as F

ENDING_SECONDS_MAX = 600
"""How long a JVM may take to write its archive."""


def exercise_spark(option: str) -> None:
    """Starts a JVM with ``option``, does what flows do, and waits until the JVM has ended."""
    from falkirk.runtime.session import start_session

    settings = {"spark.driver.defaultJavaOptions": f"{option} -XX:TieredStopAtLevel=1"}
    session = start_session("falkirk-startup", "local[1]", settings)
    folder = Path(tempfile.mkdtemp(prefix="falkirk-startup-"))
    try:
        exercise(session, folder)
    finally:
        gateway: Any = SparkContext._gateway
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)
        gateway.shutdown()
        gateway.proc.stdin.close()  # the JVM ends when nobody talks to it any more
        gateway.proc.wait(ENDING_SECONDS_MAX)


def exercise(session: Any, folder: Path) -> None:
    """Reads, joins, groups, caches, writes and fetches, in several ways."""
    rows = pa.table({"key": ["a", "b"] * 50, "n": list(range(100))})
    small = session.createDataFrame(rows).coalesce(1)
    for format in ("parquet", "json", "csv", "text"):
        path = str(folder / format)
        (small.select("key") if format == "text" else small).write.format(format).save(path)
        reader = session.read.format(format)
        reader.load(path).toArrow()
        session.read.format(format).schema("key STRING").load([path]).where("key > 'a'").toArrow()
    table = session.read.schema("key STRING, n BIGINT").parquet(str(folder / "parquet"))
    named = session.createDataFrame(rows.slice(0, 2)).select("key", F.expr("n AS name")).cache()
    for joined in (
        table.join(F.broadcast(named), on="key"),
        table.join(named.hint("merge"), "key"),
    ):
        parts = joined.selectExpr("key", "unix_seconds(timestamp(n)) DIV 10 AS w", "1 AS part")
        parts.groupBy("key", "w").agg({"part": "count", "w": "max"}).toArrow()
    seen = Observation()
    cached = table.observe(seen, F.count(F.lit(1)).alias("rows")).localCheckpoint(eager=True)
    cached.unionByName(small).distinct().write.parquet(str(folder / "again"))
    assert seen.get["rows"] == 100
