"""Columns: made with the right types, and refused where a value would be changed."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.contracts.databases import Outside, open_outside, outside

from falkirk.connectors import TableSink
from falkirk.core.errors import PermanentError
from falkirk.testing.contracts import Rows

__all__ = ["outside"]


@pytest.fixture
def sink(outside: Outside) -> Iterator[TableSink]:
    """A sink for any columns."""
    found = TableSink(outside.url, "out")
    yield found
    found.close()


def column(values: list[Any], kind: Any) -> Rows:
    """Rows with one column ``c``."""
    return Rows(pa.table({"c": pa.array(values, kind)}))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1, 2]], pa.list_(pa.int64())),
        ([{"a": 1}], pa.struct([("a", pa.int64())])),
        ([timedelta(seconds=1)], pa.duration("us")),
        ([None], pa.null()),
    ],
)
def test_what_a_table_cannot_hold_is_refused(sink: TableSink, values: Any, kind: Any) -> None:
    with pytest.raises(PermanentError, match="'c' has the type"):
        sink.write("o", (0,), column(values, kind))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "values", "kind"),
    [
        ("INTEGER", ["x"], pa.string()),
        ("TEXT", [1], pa.int64()),
        ("REAL", [0.1], pa.float64()),
        ("NUMERIC(10, 1)", [Decimal("1.25")], pa.decimal128(10, 2)),
        ("NUMERIC(10, 2)", [0.1], pa.float64()),
        ("TIMESTAMP", [0], pa.timestamp("us", "UTC")),
        ("TIMESTAMPTZ", [0], pa.timestamp("us")),
        ("DATE", [0], pa.timestamp("us")),
        ("INTEGER", [True], pa.bool_()),
        ("BYTEA", ["x"], pa.string()),
        ("CHAR(5)", ["x"], pa.string()),
    ],
)
def test_postgres_columns_that_would_change_a_value_are_refused(
    request: pytest.FixtureRequest, tmp_path: Any, there: str, values: Any, kind: Any
) -> None:
    outside = open_outside("postgres", tmp_path, request)
    outside.execute(f'CREATE TABLE "out" (c {there})')
    sink = TableSink(outside.url, "out")
    with pytest.raises(PermanentError, match="column 'c'"):
        sink.write("o", (0,), column(values, kind))
    sink.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "values", "kind", "found"),
    [
        ("NUMERIC", [7], pa.int64(), Decimal(7)),
        ("NUMERIC(10, 3)", [Decimal("1.25")], pa.decimal128(10, 2), Decimal("1.250")),
        ("DOUBLE PRECISION", [0.5], pa.float32(), 0.5),
        ("VARCHAR(10)", ["x"], pa.string(), "x"),
        ("JSONB", ['{"a": 1}'], pa.string(), {"a": 1}),
        ("BIGINT", [7], pa.int16(), 7),
        ("NUMERIC(20, 0)", [2**64 - 1], pa.uint32(), None),
    ],
)
def test_postgres_columns_that_hold_more_are_fine(
    request: pytest.FixtureRequest, tmp_path: Any, there: str, values: Any, kind: Any, found: Any
) -> None:
    if found is None:
        values, found = [2**32 - 1], Decimal(2**32 - 1)
    outside = open_outside("postgres", tmp_path, request)
    outside.execute(f'CREATE TABLE "out" (c {there})')
    sink = TableSink(outside.url, "out")
    sink.write("o", (0,), column(values, kind))
    sink.close()
    assert outside.rows('SELECT c FROM "out"') == [{"c": found}]


def test_a_column_that_is_missing_is_named(outside: Outside, sink: TableSink) -> None:
    outside.execute('CREATE TABLE "out" (d BIGINT)')
    with pytest.raises(PermanentError, match=r"ALTER TABLE .?out.? ADD COLUMN c"):
        sink.write("o", (0,), column([1], pa.int64()))


def test_a_column_that_must_have_a_value_is_named(outside: Outside, sink: TableSink) -> None:
    outside.execute('CREATE TABLE "out" (c BIGINT, d BIGINT NOT NULL)')
    with pytest.raises(PermanentError, match="'d'"):
        sink.write("o", (0,), column([1], pa.int64()))


def test_columns_with_defaults_and_numbers_of_their_own_are_left_alone(
    outside: Outside, sink: TableSink
) -> None:
    number = {"sqlite": "INTEGER", "postgres": "SERIAL", "mariadb": "INTEGER AUTO_INCREMENT"}
    outside.execute(
        f'CREATE TABLE "out" (id {number[outside.kind]} PRIMARY KEY, c BIGINT,'
        " d BIGINT NOT NULL DEFAULT 7)"
    )
    sink.write("o", (0,), column([1, 2], pa.int64()))
    assert outside.rows('SELECT * FROM "out" ORDER BY id') == [
        {"id": 1, "c": 1, "d": 7},
        {"id": 2, "c": 2, "d": 7},
    ]


def test_two_columns_of_one_name_are_refused(sink: TableSink) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["c", "c"])
    with pytest.raises(PermanentError, match="one name"):
        sink.write("o", (0,), Rows(table))


def test_what_comes_later_with_other_columns_is_looked_at_again(
    outside: Outside, sink: TableSink
) -> None:
    sink.write("o", (0,), column([1], pa.int64()))
    with pytest.raises(PermanentError, match="column 'c'"):
        sink.write("o", (1,), column(["x"], pa.string()))
    assert outside.rows('SELECT c FROM "out"') == [{"c": 1}]


def test_names_are_quoted(outside: Outside) -> None:
    sink = TableSink(outside.url, "order")
    table = pa.table({'a "quoted" name': [1], "select": ["x"]})
    sink.write("o", (0,), Rows(table))
    sink.close()
    assert outside.shown("order")() == table.to_pylist()


def test_a_nan_does_not_become_a_null(request: pytest.FixtureRequest, tmp_path: Any) -> None:
    outside = open_outside("sqlite", tmp_path, request)
    sink = TableSink(outside.url, "out")
    with pytest.raises(PermanentError, match="NaN"):
        sink.write("o", (0,), column([float("nan")], pa.float64()))
    assert outside.shown()() == []
