"""Python functions as Spark's workers call them: what they give, and what is told of them."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql.types import LongType, StructField, StructType
from tests.unit.dataflow.ends import Source

import falkirk as fk
from falkirk import lindi
from falkirk.lindi.functions import Call

SCHEMA = StructType([StructField("n", LongType())])
BATCH = pa.record_batch({"n": [1, 2, 3]})


def placed(function: Callable[..., Any], schema: Any = SCHEMA) -> Call:
    """A call that knows its operator."""
    call = Call(function, schema, "flat_map")
    call.placed(lindi.rows(fk.Dataflow("calls").read(Source(), name="doubled")))
    return call


def values(batches: Any) -> list[int]:
    return [row["n"] for batch in batches for row in batch.to_pylist()]


def test_rows_of_rows() -> None:
    call = placed(lambda row: [{"n": row["n"]}] * row["n"]).for_rows()
    assert values(call(iter([BATCH, BATCH.slice(0, 1)]))) == [1, 2, 2, 3, 3, 3, 1]


def test_an_arrow_schema_is_taken_too() -> None:
    call = placed(lambda row: [row], pa.schema([("n", pa.int64())]))
    assert call.spark_schema() == SCHEMA
    assert values(call.for_rows()(iter([BATCH]))) == [1, 2, 3]


@pytest.mark.parametrize("form", [pa.Table.from_batches, lambda batches: batches[0]])
def test_batches_of_batches(form: Callable[[list[pa.RecordBatch]], Any]) -> None:
    call = placed(lambda batch: form([batch])).for_batches()
    assert values(call(iter([BATCH]))) == [1, 2, 3]


@pytest.mark.parametrize("form", [pa.table, pa.record_batch])
def test_columns_are_found_by_name_and_made_as_wide_as_declared(form: Callable[..., Any]) -> None:
    """Spark would take them by their places: two of the same type would change places unnoticed."""
    schema = pa.schema([("n", pa.int64()), ("m", pa.int64())])
    swapped = form({"m": pa.array([7], pa.int32()), "n": pa.array([1], pa.int64())})
    batches = placed(lambda _: swapped, schema).for_batches()(iter([BATCH]))
    assert [batch.to_pylist() for batch in batches] == [[{"n": 1, "m": 7}]]
    table = placed(lambda _: pa.table(swapped), schema).for_table()(pa.table(BATCH))
    assert table.schema == schema
    assert table.to_pylist() == [{"n": 1, "m": 7}]


def test_a_table_of_a_group() -> None:
    table = pa.Table.from_batches([BATCH])
    assert placed(lambda given: given.slice(1)).for_table()(table).to_pydict() == {"n": [2, 3]}


def fails(given: Any) -> Any:
    raise KeyError("price")


TOLD: dict[str, tuple[Callable[[], Any], str]] = {
    "a row": (
        lambda: list(placed(fails).for_rows()(iter([BATCH]))),
        "called fails, which raised KeyError: 'price'; the row was {'n': 1}",
    ),
    "no rows": (
        lambda: list(placed(lambda row: ["n"]).for_rows()(iter([BATCH]))),
        "called <lambda>, which gave the row 'n': a dictionary with columns of ['n'] is needed",
    ),
    "another column": (
        lambda: list(placed(lambda row: [{"m": 1}]).for_rows()(iter([BATCH]))),
        "called <lambda>, which gave the row {'m': 1}: a dictionary with columns of ['n']",
    ),
    "another type": (
        lambda: list(placed(lambda row: [{"n": "x"}]).for_rows()(iter([BATCH]))),
        "called <lambda>, which gave rows that do not fit the columns: Could not convert 'x'",
    ),
    "too large": (
        lambda: list(placed(lambda row: [{"n": 2**70}]).for_rows()(iter([BATCH]))),
        "called <lambda>, which gave rows that do not fit the columns: Python int too large",
    ),
    "a batch": (
        lambda: list(placed(fails).for_batches()(iter([BATCH]))),
        "called fails, which raised KeyError: 'price'; the batch had 3 rows",
    ),
    "no batch": (
        lambda: list(placed(len).for_batches()(iter([BATCH]))),
        "called len, which gave 3: a record batch or a table is needed",
    ),
    "other columns": (
        lambda: list(placed(lambda b: pa.table({"m": [1]})).for_batches()(iter([BATCH]))),
        "called <lambda>, which gave the columns ['m']: ['n'] are declared",
    ),
    "a column of another type": (
        lambda: list(placed(lambda b: pa.table({"n": ["x"]})).for_batches()(iter([BATCH]))),
        "called <lambda>, which gave 'n' as string, which is no int64: ",
    ),
    "a group": (
        lambda: placed(fails).for_table()(pa.Table.from_batches([BATCH])),
        "called fails, which raised KeyError: 'price'; the group had 3 rows",
    ),
    "no table": (
        lambda: placed(len).for_table()(pa.Table.from_batches([BATCH])),
        "called len, which gave 3: an Arrow table is needed",
    ),
}


@pytest.mark.parametrize("what", TOLD)
def test_an_error_names_the_operator_and_the_users_line(what: str) -> None:
    case, message = TOLD[what]
    with pytest.raises(RuntimeError) as told:
        case()
    text = str(told.value)
    assert text.startswith("tests/unit/lindi/test_functions.py:")
    assert f": 'doubled' {message}" in text


WORKER = """
import pickle, sys
import pyarrow as pa
sys.modules["falkirk"] = None
rows, batches, table = pickle.load(sys.stdin.buffer)
given = pa.table({"n": [1, 2]})
found = [*rows(iter(given.to_batches())), *batches(iter(given.to_batches())), table(given)]
print([each.column("n").to_pylist() for each in found])
"""


def test_workers_need_nothing_of_falkirk() -> None:
    calls = (
        placed(lambda row: [row]).for_rows(),
        placed(lambda batch: batch).for_batches(),
        placed(lambda table: table).for_table(),
    )
    done = subprocess.run(
        [sys.executable, "-c", WORKER],
        input=cloudpickle.dumps(calls),
        capture_output=True,
        check=False,
    )
    assert done.stdout.decode() == "[[1, 2], [1, 2], [1, 2]]\n", done.stderr.decode()
