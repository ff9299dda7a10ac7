"""Which tables and which sessions a Delta sink can do with; the rest is tested on Spark."""

from types import SimpleNamespace
from typing import Any

import pytest
from py4j.java_gateway import JavaPackage
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

from falkirk.connectors.delta.kernel import DeltaTable, Known
from falkirk.core.errors import PermanentError

COLUMNS = StructType([StructField("k", LongType(), False), StructField("v", StringType())])


def known(**more: Any) -> Known:
    """A table with two columns, of which one is never null."""
    return Known(**{"version": 3, "properties": {}, "schema": COLUMNS, "partitions": (), **more})


def test_columns_may_come_in_any_order_and_be_left_out() -> None:
    known().check(StructType([StructField("k", LongType(), False)]), "out")
    known().check(StructType(list(reversed(list(COLUMNS)))), "out")


@pytest.mark.parametrize(
    ("table", "columns", "said"),
    [
        ({"partitions": ("v",)}, COLUMNS, "partitioned by v, and only plain tables"),
        ({"properties": {"delta.columnMapping.mode": "name"}}, COLUMNS, "is mapped"),
        ({}, StructType([StructField("v", StringType())]), "'k' .* must not be null"),
        ({}, StructType([StructField("k", LongType())]), "'k' .* must not be null"),
        ({}, StructType([StructField("k", StringType(), False)]), "is bigint, .* have string"),
        (
            {"schema": StructType([StructField("k", ArrayType(LongType(), False))])},
            StructType([StructField("k", ArrayType(LongType(), True))]),
            "'k' .* must not be null",
        ),
        ({}, StructType([*COLUMNS, StructField("new", LongType())]), "has no column 'new'"),
    ],
)
def test_what_does_not_fit_is_refused(
    table: dict[str, Any], columns: StructType, said: str
) -> None:
    with pytest.raises(PermanentError, match=said):
        known(**table).check(columns, "out")


def test_a_spark_without_the_kernel_is_refused_with_what_it_needs() -> None:
    nothing = JavaPackage("io.delta.kernel.defaults.engine.DefaultEngine", None, None)
    kernel = SimpleNamespace(
        defaults=SimpleNamespace(engine=SimpleNamespace(DefaultEngine=nothing))
    )
    jvm = SimpleNamespace(io=SimpleNamespace(delta=SimpleNamespace(kernel=kernel)))
    with pytest.raises(PermanentError, match=r"spark\.jars\.packages=io\.delta:delta-kernel"):
        DeltaTable(SimpleNamespace(_jvm=jvm), "out")


def test_spark_connect_is_refused() -> None:
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(PermanentError, match="run the flow with a classic session"):
        DeltaTable(session, "out")
