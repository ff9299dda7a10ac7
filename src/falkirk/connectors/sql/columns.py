"""Columns of Arrow as columns of SQL: each has one that holds all of its values, or is refused.

SQLite has no decimals and no moments in a time zone; they are kept as text, which loses nothing.
MariaDB and MySQL have moments in UTC, and in a key texts of 255 letters.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.types as at  # type: ignore[import-untyped]
from sqlalchemy import (
    CHAR,
    REAL,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Date,
    DateTime,
    Double,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    SmallInteger,
    Table,
    Text,
    Time,
    inspect,
)
from sqlalchemy.types import TypeEngine

from falkirk.connectors.sql import mysql
from falkirk.connectors.sql.making import make_table
from falkirk.connectors.sql.mysql_columns import changes_values, held
from falkirk.connectors.sql.sink import split
from falkirk.core.errors import PermanentError


def sql_type(name: str, kind: pa.DataType, dialect: str, keyed: bool = False) -> TypeEngine[Any]:
    """The type of a column that holds every value of ``kind``; in a key, every short one."""
    found = plain_type(name, kind, dialect)
    return held(found, keyed) if dialect in mysql.NAMES else found


def plain_type(name: str, kind: pa.DataType, dialect: str) -> TypeEngine[Any]:
    """The same in the types that most databases have."""
    sqlite = dialect == "sqlite"
    if at.is_dictionary(kind):
        kind = kind.value_type
    if at.is_decimal(kind):
        return Text() if sqlite else Numeric(kind.precision, kind.scale)
    if at.is_timestamp(kind):
        if kind.tz is not None:
            return Text() if sqlite else DateTime(timezone=True)
        return DateTime()
    for fits, found in SIMPLE:
        if fits(kind):
            made: TypeEngine[Any] = found()
            return made
    raise PermanentError(
        f"the column {name!r} has the type {kind}, which a table cannot hold: make a text of it"
        " first, for instance by to_json(), or leave it out"
    )


SIMPLE: Sequence[tuple[Any, Any]] = (
    (at.is_boolean, Boolean),
    (lambda kind: kind in (pa.int8(), pa.int16(), pa.uint8()), SmallInteger),
    (lambda kind: kind in (pa.int32(), pa.uint16()), Integer),
    (lambda kind: kind in (pa.int64(), pa.uint32()), BigInteger),
    (lambda kind: kind in (pa.float16(), pa.float32()), lambda: Float(24)),
    (at.is_float64, Double),
    (lambda kind: at.is_string(kind) or at.is_large_string(kind), Text),
    (lambda kind: at.is_binary(kind) or at.is_large_binary(kind), LargeBinary),
    (at.is_date, Date),
    (at.is_time, Time),
)
"""Types that need no further look, with the SQL type that holds all of their values."""


def target_table(
    connection: Connection,
    name: str,
    schema: pa.Schema,
    place: str | None,
    key: Sequence[str],
    compared: Sequence[str],
) -> Table:
    """The table ``name`` with the columns of ``schema``: it is made if it is missing.

    The columns ``compared`` must tell any two values apart.
    """
    if len(set(schema.names)) < len(schema.names):
        raise PermanentError(f"two columns for {name!r} have one name: {', '.join(schema.names)}")
    dialect = connection.dialect.name
    types = {
        field.name: sql_type(field.name, field.type, dialect, field.name in key) for field in schema
    }
    for missing in [each for each in key if each not in types]:
        raise PermanentError(
            f"the key {missing!r} is none of the columns for {name!r}: {', '.join(types)}"
        )
    found = known_table(connection, name, place)
    if found is None:
        columns = [
            Column(each, kind, primary_key=each in key, autoincrement=False)
            for each, kind in types.items()
        ]
        made = make_table(connection, name, place, columns)
        if made is not None:
            return made
        found = existing_table(connection, name if place is None else f"{place}.{name}", "it")
    check_columns(found, types, connection)
    if mysql.is_mysql(connection):
        mysql.check_table(connection, found, compared)
    return found


def known_table(connection: Connection, name: str, schema: str | None) -> Table | None:
    """A table as the database has it, None if it has none."""
    if not inspect(connection).has_table(name, schema=schema):
        return None
    return Table(name, MetaData(), schema=schema, autoload_with=connection)


def existing_table(connection: Connection, named: str, place: str) -> Table:
    """The table that a source reads; ``place`` is its database, as errors may show it."""
    schema, name = split(named)
    table = known_table(connection, name, schema)
    if table is None:
        raise PermanentError(f"{place} has no table {named!r}: make it, or name another")
    return table


def check_columns(table: Table, types: dict[str, TypeEngine[Any]], connection: Connection) -> None:
    """Refuses a table that cannot take the columns as they are."""
    quoted = connection.dialect.identifier_preparer
    for name, kind in types.items():
        if name not in table.c:
            raise PermanentError(
                f"the table {table.name!r} has no column {name!r}: add it"
                f" (ALTER TABLE {quoted.format_table(table)} ADD COLUMN {quoted.quote(name)}"
                f" {compiled(kind, connection)}), or select only what it has"
            )
        there = table.c[name].type
        if not holds(there, kind, connection):
            raise PermanentError(
                f"the column {name!r} of the table {table.name!r} is"
                f" {compiled(there, connection)}, and the rows need"
                f" {compiled(kind, connection)}: change one of them, for instance by CAST"
            )
    for column in table.c:
        if column.name not in types and needed(column):
            raise PermanentError(
                f"the table {table.name!r} wants a value for {column.name!r}, which the rows do"
                " not have: select it too, or give the column a default"
            )


def needed(column: Column[Any]) -> bool:
    """Whether a row must give a column a value."""
    numbered = column.autoincrement is True or (
        column.primary_key and column.table.autoincrement_column is column
    )
    return not (
        column.nullable
        or column.server_default is not None
        or column.identity is not None
        or column.computed is not None
        or numbered
    )


def holds(there: TypeEngine[Any], ours: TypeEngine[Any], connection: Connection) -> bool:
    """Whether a column of the type ``there`` holds what ``ours`` holds, and changes nothing.

    What does not fit a column that is only too narrow is refused by the database, row by row.
    """
    if compiled(there, connection) == compiled(ours, connection):
        return True
    changed = changes_values(there, ours) if mysql.is_mysql(connection) else None
    if changed is not None:
        return not changed
    if isinstance(ours, Integer):
        return isinstance(there, Integer | Numeric) and not isinstance(there, Float)
    if isinstance(ours, Float):  # Numeric is its base
        dialect = connection.dialect.name
        return isinstance(there, Float) and bits(there, dialect) >= bits(ours, dialect)
    if isinstance(ours, Numeric):
        unbounded = isinstance(there, Numeric) and there.precision is None
        fits = isinstance(there, Numeric) and (there.scale or 0) >= (ours.scale or 0)
        return not isinstance(there, Float) and (unbounded or fits)
    if isinstance(ours, DateTime):
        return isinstance(there, DateTime) and there.timezone == ours.timezone
    for family in (Boolean, LargeBinary, Date, Time):
        if isinstance(ours, family):
            return isinstance(there, family)
    if isinstance(there, CHAR) and connection.dialect.name != "sqlite":
        return False  # it is filled up with spaces
    # Text goes into whatever reads text: names, documents, identifiers.
    others = (Boolean, Integer, Numeric, Float, LargeBinary, Date, DateTime, Time)
    return not isinstance(there, others)


def bits(kind: Float[Any], dialect: str) -> int:
    """How precise a floating-point number is."""
    if dialect == "sqlite" or isinstance(kind, Double):
        return 53
    if dialect in mysql.NAMES:
        return 24 if (kind.precision or 0) <= 24 else 53
    return 24 if isinstance(kind, REAL) else kind.precision or 53


def compiled(kind: TypeEngine[Any], connection: Connection) -> str:
    """A type as the database writes it."""
    return str(kind.compile(connection.dialect))
