"""Columns of SQL as columns of Arrow, and rows of a query as an Arrow table."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from sqlalchemy import (
    BINARY,
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Date,
    DateTime,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInteger,
    String,
    Table,
    Text,
    Uuid,
    cast,
    literal_column,
    type_coerce,
)
from sqlalchemy.dialects import mysql

from falkirk.connectors.sql.columns import bits
from falkirk.connectors.sql.mysql import NAMES
from falkirk.connectors.sql.mysql_columns import BYTES
from falkirk.core.errors import PermanentError

ROWS_AT_ONCE = 10_000

WIDE = Context(prec=120)
"""More digits than any number of a database that Spark can hold, so that none is rounded away."""

Change = Callable[[Any], Any]


def arrow_field(column: Column[Any], dialect: str) -> pa.Field:
    """A column as Spark's rows have it."""
    kind = column.type
    if isinstance(kind, Float):
        found = pa.float32() if bits(kind, dialect) <= 24 else pa.float64()
    elif isinstance(kind, Numeric):
        # A number without bounds gets what Spark has at most.
        precision = kind.precision or 38
        scale = kind.scale if kind.scale is not None else (18 if kind.precision is None else 0)
        found = pa.decimal128(precision, scale)
    elif isinstance(kind, Integer) and dialect == "sqlite":
        found = pa.int64()
    elif isinstance(kind, DateTime):
        zoned = kind.timezone or isinstance(kind, mysql.TIMESTAMP)  # a session of ours is in UTC
        found = pa.timestamp("us", "UTC" if zoned else None)
    elif isinstance(kind, mysql.SET):
        found = None  # it has no order of its own
    elif getattr(kind, "unsigned", False):
        found = next(arrow for sql, arrow in UNSIGNED if isinstance(kind, sql))
    else:
        found = next((arrow for sql, arrow in SIMPLE if isinstance(kind, sql)), None)
    if found is None:
        raise PermanentError(
            f"the column {column.name!r} of {column.table.name!r} has the type {kind}, which rows"
            " of Spark cannot hold as it is: leave it out by columns=, or read a view that casts it"
        )
    return pa.field(column.name, found)


SIMPLE: Sequence[tuple[Any, Any]] = (
    (Boolean, pa.bool_()),
    (SmallInteger, pa.int16()),
    (BigInteger, pa.int64()),
    (Integer, pa.int32()),
    *((kind, pa.binary()) for kind in (*BYTES, BINARY)),
    (Date, pa.date32()),
    (JSON, pa.string()),
    (Uuid, pa.string()),
    (String, pa.string()),
)
"""The more special of two types comes first."""

UNSIGNED: Sequence[tuple[Any, Any]] = (
    (BigInteger, pa.decimal128(20, 0)),
    (SmallInteger, pa.int32()),
    (mysql.TINYINT, pa.int32()),
    (Integer, pa.int64()),
)
"""The same without a sign, which needs one bit more."""


def chosen_columns(table: Table, names: Sequence[str]) -> list[Column[Any]]:
    """The columns of a table by their names; all of them if there are none."""
    for name in names:
        if name not in table.c:
            raise PermanentError(
                f"the table {table.name!r} has no column {name!r}; it has"
                f" {', '.join(table.c.keys())}"
            )
    return [table.c[name] for name in names] or list(table.c)


def arrow_schema(columns: Sequence[Column[Any]], dialect: str) -> pa.Schema:
    """The columns of all rows that are read."""
    return pa.schema([arrow_field(column, dialect) for column in columns])


def selected(column: Column[Any], dialect: str) -> ColumnElement[Any]:
    """A column as it is asked for, to lose no digit on the way.

    SQLite's numbers come as text; MariaDB and MySQL would write six digits of a small float, and
    ten behind the point of a large one.
    """
    exact = isinstance(column.type, Numeric) and not isinstance(column.type, Float)
    if dialect == "sqlite" and exact:
        return cast(column, Text).label(column.name)
    if dialect in NAMES and isinstance(column.type, Float):
        one: ColumnElement[Any] = literal_column("1e0", Double())
        return (type_coerce(column, Double()) * one).label(column.name)
    return column


def pieces(rows: Iterable[Sequence[Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as Arrow batches, in as many pieces as they come."""
    changes = [change_for(field.type) for field in schema]
    gathered: list[Sequence[Any]] = []
    for row in rows:
        gathered.append(row)
        if len(gathered) == ROWS_AT_ONCE:
            yield piece(gathered, schema, changes)
            gathered = []
    if gathered:
        yield piece(gathered, schema, changes)


def piece(
    rows: Sequence[Sequence[Any]], schema: pa.Schema, changes: Sequence[Change]
) -> pa.RecordBatch:
    """Some rows as one Arrow batch."""
    columns = [
        pa.array([None if value is None else change(value) for value in values], field.type)
        for field, values, change in zip(schema, zip(*rows, strict=True), changes, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def change_for(kind: pa.DataType) -> Change:
    """What makes a value of a driver one that Arrow takes for ``kind``."""
    if pa.types.is_decimal(kind):
        unit = Decimal(1).scaleb(-kind.scale)
        return lambda value: rounded(value, unit, kind)
    if pa.types.is_string(kind):
        return lambda value: value if isinstance(value, str) else written(value)
    if pa.types.is_binary(kind):
        return bytes
    return lambda value: value


def rounded(value: Any, unit: Decimal, kind: pa.DataType) -> Decimal:
    """A number with as many digits as its column has; one that needs more is refused."""
    number = Decimal(str(value))
    whole = number.is_finite() and (not number or number.adjusted() < kind.precision - kind.scale)
    if not whole or number.quantize(unit, context=WIDE) != number:
        raise PermanentError(
            f"the number {number} does not fit {kind}: read a view that casts or rounds it"
        )
    return number.quantize(unit, context=WIDE)


def written(value: Any) -> str:
    """A document, an identifier or the like as text."""
    return json.dumps(value) if isinstance(value, dict | list | bool | int | float) else str(value)
