"""Many rows into one table: by COPY where psycopg speaks to PostgreSQL, else by many inserts."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.csv  # type: ignore[import-untyped]
import pyarrow.types as at  # type: ignore[import-untyped]
from sqlalchemy import Connection, Table, insert

from falkirk.core.errors import PermanentError


def load(connection: Connection, table: Table, pieces: Iterable[pa.RecordBatch]) -> None:
    """Adds all rows to ``table``, within the transaction of ``connection``."""
    if connection.dialect.driver == "psycopg":
        copy(connection, table, pieces)
        return
    changed = CHANGES.get(connection.dialect.name, exact)
    for piece in pieces:
        if piece.num_rows:
            connection.execute(insert(table), changed(piece).to_pylist())


def copy(connection: Connection, table: Table, pieces: Iterable[pa.RecordBatch]) -> None:
    """Streams all rows as CSV: in there a null is nothing, and an empty text is two quotes."""
    rest = iter(pieces)
    first = next(rest, None)
    if first is None:
        return
    quoted = connection.dialect.identifier_preparer
    names = ", ".join(map(quoted.quote, first.schema.names))
    driver: Any = connection.connection.driver_connection
    with (
        driver.cursor() as cursor,
        cursor.copy(
            f"COPY {quoted.format_table(table)} ({names}) FROM STDIN (FORMAT csv)"
        ) as stream,
    ):
        for piece in chain([first], rest):
            if piece.num_rows:
                stream.write(as_csv(exact(piece)))


def as_csv(piece: pa.RecordBatch) -> memoryview:
    """The rows as PostgreSQL reads them."""
    columns = [hexadecimal(c) if is_bytes(c.type) else c for c in piece.columns]
    written = pa.BufferOutputStream()
    pa.csv.write_csv(
        pa.RecordBatch.from_arrays(columns, names=piece.schema.names),
        written,
        pa.csv.WriteOptions(include_header=False, quoting_style="needed"),
    )
    return memoryview(written.getvalue())


def exact(piece: pa.RecordBatch) -> pa.RecordBatch:
    """The same values with moments to the microsecond, in UTC, and plain texts."""
    fields = []
    for field in piece.schema:
        kind = field.type
        if at.is_timestamp(kind):
            kind = pa.timestamp("us", "UTC" if kind.tz is not None else None)
        elif at.is_dictionary(kind):
            kind = kind.value_type
        elif at.is_time(kind):
            kind = pa.time64("us")
        fields.append(pa.field(field.name, kind))
    return cast(piece, pa.schema(fields))


def lossless(piece: pa.RecordBatch) -> pa.RecordBatch:
    """The same values as SQLite can hold them: decimals and moments in a time zone as text."""
    piece = exact(piece)
    fields = []
    for field in piece.schema:
        kind = field.type
        if at.is_decimal(kind) or (at.is_timestamp(kind) and kind.tz is not None):
            kind = pa.string()
        elif at.is_floating(kind) and pc.any(pc.is_nan(piece[field.name])).as_py():
            raise PermanentError(
                f"the column {field.name!r} has a NaN, and SQLite would make a NULL of it: replace"
                " it first, for instance by nanvl()"
            )
        fields.append(pa.field(field.name, kind))
    return cast(piece, pa.schema(fields))


def finite(piece: pa.RecordBatch) -> pa.RecordBatch:
    """The same values as MariaDB and MySQL can hold them: they have no NaN and no infinity."""
    piece = exact(piece)
    for field in piece.schema:
        if (
            at.is_floating(field.type)
            and pc.any(pc.invert(pc.is_finite(piece[field.name]))).as_py()
        ):
            raise PermanentError(
                f"the column {field.name!r} has a NaN or an infinity, which MariaDB and MySQL do"
                " not know: replace it first, for instance by nanvl()"
            )
    return piece


CHANGES = {"sqlite": lossless, "mysql": finite, "mariadb": finite}
"""What becomes of values where not all of them can be held as they are."""


def cast(piece: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same values with the types of ``schema``; what would be lost is an error."""
    if piece.schema == schema:
        return piece
    try:
        columns = [piece[field.name].cast(field.type) for field in schema]
    except pa.ArrowInvalid as error:
        raise PermanentError(f"a value cannot be written as it is: {error}") from error
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values are bytes."""
    return bool(at.is_binary(kind) or at.is_large_binary(kind))


def hexadecimal(column: pa.Array) -> pa.Array:
    """Bytes as PostgreSQL writes them."""
    texts = [None if value is None else f"\\x{value.hex()}" for value in column.to_pylist()]
    return pa.array(texts, pa.string())
