"""Merging partial aggregates gives the same rows by Arrow and by Spark."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from falkirk.runtime.aggregate import Wanted, nullable, on_driver, on_spark
from falkirk.runtime.content import Content

pytestmark = pytest.mark.spark

MERGES = [("n", "sum"), ("least", "min"), ("most", "max")]
SCHEMA = pa.schema(
    {
        "a": pa.string(),
        "b": pa.int64(),
        "n": pa.int64(),
        "least": pa.float64(),
        "most": pa.string(),
    }
)


def table(random: Random, rows: int) -> pa.Table:
    """Random rows, with nulls among keys and values."""

    def maybe(value: Any) -> Any:
        return None if random.random() < 0.2 else value

    return pa.Table.from_pylist(
        [
            {
                "a": maybe(random.choice("xyz")),
                "b": maybe(random.randrange(3)),
                "n": maybe(random.randrange(100)),
                "least": maybe(random.random()),
                "most": maybe(random.choice("pqrs")),
            }
            for _ in range(rows)
        ],
        schema=SCHEMA,
    )


def rows(found: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr)


@pytest.mark.parametrize("keys", [["a"], ["a", "b"]], ids=["one key", "two keys"])
@pytest.mark.parametrize("only", [False, True], ids=["all", "touched"])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_rows(spark: SparkSession, keys: list[str], only: bool, seed: int) -> None:
    random = Random(seed)
    left_out = [name for name in ("a", "b") if name not in keys]
    parts = [table(random, 30).drop_columns(left_out) for _ in range(3)]
    touched = table(random, 2).drop_columns(left_out) if only else None
    driver = on_driver(parts, keys, MERGES, touched)
    frames = [spark.createDataFrame(part) for part in parts]
    limit = None
    if touched is not None:
        null = nullable(Content(table=touched), keys)
        limit = Wanted(spark.createDataFrame(touched), keys, seed > 0, null)
    plan = on_spark(frames, keys, MERGES, limit)
    assert rows(driver) == rows(plan.toArrow())
    assert driver.schema.names == plan.columns
    if not only:
        assert driver.num_rows == len(
            {tuple(row[key] for key in keys) for part in parts for row in part.to_pylist()}
        )


def test_types_stay_as_they_are() -> None:
    part = pa.table({"k": [1, 1], "n": pa.array([1, 2], pa.int32())})
    assert on_driver([part], ["k"], [("n", "sum")], None).schema == part.schema
