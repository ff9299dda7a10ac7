"""Spark itself works here: Java starts, data is shuffled, written, read back and fetched."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark


def test_a_shuffled_result_survives_parquet_and_comes_back_as_arrow(
    spark: SparkSession, tmp_path: Path
) -> None:
    numbers = spark.range(0, 1_000, 1, numPartitions=4)
    sums = numbers.groupBy((F.col("id") % 7).alias("remainder")).agg(F.sum("id").alias("total"))
    assert sums.rdd.getNumPartitions() == 2

    sums.write.parquet(str(tmp_path / "sums"))
    table = spark.read.parquet(str(tmp_path / "sums")).orderBy("remainder").toArrow()

    assert isinstance(table, pa.Table)
    assert table.to_pylist() == [
        {"remainder": r, "total": sum(range(r, 1_000, 7))} for r in range(7)
    ]


def test_an_arrow_table_goes_to_spark_and_back(spark: SparkSession) -> None:
    table = pa.table({"word": ["a", "b", None], "count": pa.array([1, 2, 3], pa.int64())})
    assert spark.createDataFrame(table).orderBy("count").toArrow().equals(table)


def test_python_workers_start(spark: SparkSession) -> None:
    doubled = spark.sparkContext.parallelize(range(4), 2).map(lambda number: number * 2).collect()
    assert doubled == [0, 2, 4, 6]


def test_spark_keeps_to_its_own_folder(spark: SparkSession, spark_folder: Path) -> None:
    spark.range(10).repartition(2).count()
    assert list((spark_folder / "local").glob("blockmgr-*"))
    assert spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"
