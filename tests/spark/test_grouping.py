"""Running aggregates mean the same, whether keys and arguments become columns first or not."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.dataflow.expression import read_aggregate, read_key
from falkirk.dataflow.operators.aggregate import RunningAggregate
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark

ROWS = 30


@pytest.mark.parametrize(
    ("key", "aggregates", "direct", "expected"),
    [
        pytest.param(
            "value % 3 AS k",
            {"n": "count(*)", "s": "sum(value)", "a": "avg(value)"},
            True,
            lambda k: (10, sum(range(k, ROWS, 3)), sum(range(k, ROWS, 3)) / 10),
            id="columns",
        ),
        pytest.param(
            "value % 3 AS k",
            {"s": "sum(k + value)"},
            False,
            lambda k: (sum(range(k, ROWS, 3)) + 10 * k,),
            id="an argument that uses a key",
        ),
        pytest.param(
            "value % 3 AS k",
            {"s": "max(k)"},
            False,
            lambda k: (k,),
            id="an argument that is a key",
        ),
        pytest.param(
            "value % 3 AS value",
            {"s": "sum(value)"},
            False,
            lambda k: (sum(range(k, ROWS, 3)),),
            id="a key with the name of a column",
        ),
        pytest.param(
            "value % 3 AS k",
            {"n": "count(rand())"},
            False,
            lambda k: (10,),
            id="an argument that is not the same twice",
        ),
    ],
)
def test_the_same_meaning(
    spark: SparkSession,
    tmp_path: Path,
    key: str,
    aggregates: dict[str, str],
    direct: bool,
    expected: Any,
) -> None:
    parts = [read_aggregate(name, text) for name, text in aggregates.items()]
    assert RunningAggregate([read_key(key)], parts).direct is direct
    flow, sink = fk.Dataflow("grouping"), Remembered()
    numbers = flow.read(Numbers(rows=ROWS, rows_per_epoch=ROWS), name="numbers")
    numbers.group_by(key).agg(**aggregates).write(sink, name="out")
    run(flow, tmp_path, spark)
    found = {row[0]: row[1:] for row in (tuple(each.values()) for each in sink.rows())}
    assert found == {k: expected(k) for k in range(3)}
