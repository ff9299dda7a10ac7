"""Operators of lindi, each beside the same computation in plain PySpark."""

from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

from falkirk.lindi import Rows

EPOCHS = 2
SCHEMA = pa.schema([("k", pa.int64()), ("n", pa.int64()), ("w", pa.string())])
OTHER = pa.schema([("k", pa.int64()), ("o", pa.string())])


def random_rows(random: Random, schema: pa.Schema, most: int) -> list[dict[str, Any]]:
    """Some rows, with nulls and repetitions; often there are none."""
    values: dict[str, list[Any]] = {
        "k": [None, 1, 2, 3, 4, 5],
        "n": [None, *range(1, 9)],
        "w": [None, "", "a", "ab", "bca"],
        "o": ["p", "q"],
    }
    count = random.choice([0, most // 2, most])
    return [{name: random.choice(values[name]) for name in schema.names} for _ in range(count)]


Make = Callable[[Rows, Rows], Rows]
Plain = Callable[[Any, Any], Any]


def letters(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each letter."""
    return [{"k": row["k"], "letter": letter} for letter in row["w"] or ""]


def flat_map(rows: Rows, other: Rows) -> Rows:
    return rows.flat_map(letters, "k BIGINT, letter STRING")


def by_letter(frame: Any, other: Any) -> Any:
    return frame.selectExpr("k", "explode(split(w, '')) AS letter").where("letter != ''")


def doubled(batch: pa.RecordBatch) -> pa.RecordBatch:
    """An Arrow batch of an Arrow batch."""
    return pa.record_batch({"d": pc.multiply(batch.column("n"), 2)})


def map_batches(rows: Rows, other: Rows) -> Rows:
    return rows.map_batches(doubled, pa.schema([("d", pa.int64())]))


@F.arrow_udf(LongType())
def plus_one(values: pa.Array) -> pa.Array:
    """A column of a column."""
    return pc.add(values, 1)


def largest(table: pa.Table) -> pa.Table:
    """A table of a group."""
    return pa.table(
        {"k": table.column("k")[:1], "largest": pa.array([pc.max(table.column("n")).as_py()])},
        schema=pa.schema([("k", pa.int64()), ("largest", pa.int64())]),
    )


def numbered(rows: Rows, other: Rows) -> Rows:
    ranked = rows.where("n > 2").whole()
    return ranked.select("*", "row_number() OVER (PARTITION BY k ORDER BY n, w) AS place")


def table(session: Any) -> Any:
    """A table that does not change."""
    return session.createDataFrame([(1, "one"), (2, "two"), (2, "zwei")], "k BIGINT, name STRING")


def joined(how: str) -> tuple[Make, Plain]:
    return (
        lambda rows, other: rows.join(other, on="k", how=how),
        lambda frame, other: frame.join(other, on="k", how=how),
    )


def looked_up(how: str) -> tuple[Make, Plain]:
    return (
        lambda rows, other: rows.join_table(table, on="k", how=how),
        lambda frame, other: frame.join(table(frame.sparkSession), on="k", how=how),
    )


def halved(rows: Rows, other: Rows) -> Rows:
    """How often each number can be halved, for all rows of a round at once."""
    ready = rows.select("n AS start", "n", "0 AS steps")
    return ready.iterate_while(
        "n > 1", lambda r: r.select("start", "n DIV 2 AS n", "steps + 1 AS steps")
    )


def halved_plain(frame: Any, other: Any) -> Any:
    steps = "CASE WHEN n >= 8 THEN 3 WHEN n >= 4 THEN 2 WHEN n >= 2 THEN 1 ELSE 0 END"
    return frame.selectExpr("n AS start", "IF(n >= 1, 1, n) AS n", f"{steps} AS steps")


def reached(rows: Rows, other: Rows) -> Rows:
    """Two less at each round, and a body that waits for the whole round."""
    return rows.select("n").iterate_while(
        lambda f: f.n > 3, lambda r: r.select(lambda f: (f.n - 2).alias("n")).distinct()
    )


def reached_plain(frame: Any, other: Any) -> Any:
    done, going = frame.select("n").where("NOT coalesce(n > 3, false)"), frame.select("n")
    for _ in range(4):
        going = going.where("n > 3").selectExpr("n - 2 AS n").distinct()
        done = done.unionByName(going.where("n <= 3"))
    return done


CASES: dict[str, tuple[Make, Plain]] = {
    "select": (
        lambda r, o: r.select("k", "n + 1 AS n", "upper(w) AS w"),
        lambda f, o: f.selectExpr("k", "n + 1 AS n", "upper(w) AS w"),
    ),
    "select all kinds": (
        lambda r, o: r.select("*", F.col("n") + 1, lambda f: (f.k * f.n).alias("p")),
        lambda f, o: f.select("*", f.n + 1, (f.k * f.n).alias("p")),
    ),
    "where": (lambda r, o: r.where("n > 3 OR w IS NULL"), lambda f, o: f.where("n>3 OR w IS NULL")),
    "where function": (lambda r, o: r.where(lambda f: f.n > f.k), lambda f, o: f.where("n > k")),
    "flat_map": (flat_map, by_letter),
    "flat_map of moments": (
        lambda r, o: r.select("timestamp_seconds(n) AS at").flat_map(lambda x: [x], "at TIMESTAMP"),
        lambda f, o: f.selectExpr("timestamp_seconds(n) AS at"),
    ),
    "map_batches": (map_batches, lambda f, o: f.selectExpr("n * 2 AS d")),
    "arrow_udf": (
        lambda r, o: r.select(lambda f: plus_one(f.n).alias("m")),
        lambda f, o: f.selectExpr("n + 1 AS m"),
    ),
    "transform": (
        lambda r, o: r.transform(lambda f: f.fillna("?"), name="filled"),
        lambda f, o: f.fillna("?"),
    ),
    "transform two": (
        lambda r, o: r.transform(lambda f, other: f.crossJoin(other.select("o")), o),
        lambda f, o: f.crossJoin(o.select("o")),
    ),
    "repartition": (
        lambda r, o: r.repartition(3, "k").select("*", "spark_partition_id() AS place"),
        lambda f, o: f.repartition(3, "k").selectExpr("*", "spark_partition_id() AS place"),
    ),
    "union": (
        lambda r, o: r.select("k").union(o.select("k"), r.select("n AS k")),
        lambda f, o: f.select("k").union(o.select("k")).union(f.select("n")),
    ),
    **{f"join {how}": joined(how) for how in ("inner", "left", "semi", "anti")},
    **{f"join_table {how}": looked_up(how) for how in ("left", "anti")},
    "whole": (
        numbered,
        lambda f, o: f.where("n > 2").selectExpr(
            "*", "row_number() OVER (PARTITION BY k ORDER BY n, w) AS place"
        ),
    ),
    "distinct": (lambda r, o: r.distinct(), lambda f, o: f.distinct()),
    "distinct of plans": (
        lambda r, o: r.select("k").union(o.select("k")).distinct(),
        lambda f, o: f.select("k").union(o.select("k")).distinct(),
    ),
    "group_by": (
        lambda r, o: r.group_by("k", "length(w) AS l").agg(
            "percentile(n, 0.5) AS middle",
            lambda f: F.sort_array(F.collect_list(f.n)).alias("all"),
            kinds="count(DISTINCT w)",
            last=F.max("w"),
        ),
        lambda f, o: f.groupBy("k", F.expr("length(w) AS l")).agg(
            F.expr("percentile(n, 0.5) AS middle"),
            F.sort_array(F.collect_list("n")).alias("all"),
            F.countDistinct("w").alias("kinds"),
            F.max("w").alias("last"),
        ),
    ),
    "group_by nothing": (
        lambda r, o: r.where("n > 0").group_by().agg(total="sum(n)", rows="count(*)"),
        lambda f, o: f.where("n > 0").agg(
            F.sum("n").alias("total"), F.count(F.lit(1)).alias("rows")
        ),
    ),
    "count": (
        lambda r, o: r.group_by(lambda f: f.k).count("rows"),
        lambda f, o: f.groupBy("k").count().withColumnRenamed("count", "rows"),
    ),
    "apply": (
        lambda r, o: r.group_by("k").apply(largest, "k BIGINT, largest BIGINT"),
        lambda f, o: f.groupBy("k").agg(F.max("n").alias("largest")),
    ),
    "order_by": (lambda r, o: r.order_by("n DESC"), lambda f, o: f),
    "limit": (
        lambda r, o: r.limit(3, "n DESC NULLS FIRST", lambda f: f.k.asc()),
        lambda f, o: f.orderBy(F.desc_nulls_first("n"), "k", "w").limit(3),
    ),
    "limit any": (
        lambda r, o: r.select("1 AS one").limit(2),
        lambda f, o: f.selectExpr("1 AS one").limit(2),
    ),
    "iterate_while": (halved, halved_plain),
    "iterate_while whole": (reached, reached_plain),
}
"""What to make of rows and other rows, and the same in PySpark."""
