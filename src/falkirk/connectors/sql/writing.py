"""The three ways in which rows change a table: added, put by their key, or counted up and down."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    inspect,
    literal,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite

from falkirk.connectors.sql.bulk import load
from falkirk.connectors.sql.making import drop_own, own_table
from falkirk.connectors.sql.mysql import is_mysql
from falkirk.connectors.sql.mysql_writing import put, take_out
from falkirk.core.errors import PermanentError

Pieces = Iterable[pa.RecordBatch]

PLACES = {"postgresql": "ctid", "sqlite": "rowid"}
"""What tells two equal rows of a table apart."""


def append(connection: Connection, table: Table, names: Sequence[str], pieces: Pieces) -> None:
    """Adds all rows."""
    load(connection, table, pieces)


def upsert(
    connection: Connection,
    table: Table,
    names: Sequence[str],
    pieces: Pieces,
    key: Sequence[str],
) -> None:
    """Puts every row in the place of the one with its key; there is one for each key."""
    stage = staged(connection, table, names, pieces)
    check_keys(connection, table, stage, key)
    rows = select(*(stage.c[name] for name in names)).where(true())
    if is_unique(connection, table, key) and is_mysql(connection):
        put(connection, table, stage, names, key)
    elif is_unique(connection, table, key):
        dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
        adding = dialect.insert(table).from_select(list(names), rows)
        rest = {name: adding.excluded[name] for name in names if name not in key}
        chosen = {"index_elements": list(key)}
        connection.execute(
            adding.on_conflict_do_update(**chosen, set_=rest)
            if rest
            else adding.on_conflict_do_nothing(**chosen)
        )
    else:
        same = and_(*(table.c[name] == stage.c[name] for name in key))
        connection.execute(delete(table).where(exists().where(same)))
        connection.execute(insert(table).from_select(list(names), rows))
    drop_own(connection, stage)


def change(
    connection: Connection, table: Table, names: Sequence[str], pieces: Pieces, column: str
) -> None:
    """Adds and removes as many of each row as ``column`` says."""
    stage = staged(connection, table, names, pieces, Column(column, BigInteger))
    columns = [stage.c[name] for name in names]
    total = func.sum(stage.c[column]).label(column)
    rows = select(*columns, total).group_by(*columns).having(func.sum(stage.c[column]) != 0)
    net = own_table(connection, table, names, Column(column, BigInteger))
    connection.execute(insert(net).from_select([*names, column], rows))
    analyse(connection, net)
    remove(connection, table, names, net, column)
    add(connection, table, names, net, column)
    drop_own(connection, net)
    drop_own(connection, stage)


def add(
    connection: Connection, table: Table, names: Sequence[str], come: Table, column: str
) -> None:
    """Adds each row that has come, as often as it has."""
    most = connection.scalar(select(func.max(come.c[column])))
    if most is None or most < 1:
        return
    # Each number gives two, so that it takes few steps: some databases take no more than 1,000.
    twice = select(literal(0).label("d")).union_all(select(literal(1))).subquery("twice")
    counting = select(literal(1).label("n")).cte("counting", recursive=True)
    following = 2 * counting.c.n + twice.c.d
    counting = counting.union_all(
        select(following).select_from(counting.join(twice, true())).where(following <= int(most))
    )
    rows = select(*(come.c[name] for name in names)).join(counting, counting.c.n <= come.c[column])
    connection.execute(insert(table).from_select(list(names), rows))


def remove(
    connection: Connection, table: Table, names: Sequence[str], gone: Table, column: str
) -> None:
    """Removes each row that has gone, as often as it has; all of them must be there."""
    if not is_mysql(connection):
        remove_by_place(connection, table, names, gone, column)
        return
    removed, stays = take_out(connection, table, names, gone, column)
    check_removed(table, removed, wanted(connection, gone, column, true()))
    add(connection, table, names, stays, column)
    drop_own(connection, stays)


def remove_by_place(
    connection: Connection, table: Table, names: Sequence[str], gone: Table, column: str
) -> None:
    """The same where two equal rows can be told apart.

    Rows are compared by plain equality, one set of columns that are null after the other: so a
    database can join them in its own ways, by an index or by hashing.
    """
    place = stored_at(connection, table)
    nulls = [gone.c[name].is_(None) for name in names]
    going = gone.c[column] < 0
    for pattern in connection.execute(select(*nulls).where(going).distinct()).all():
        same, chosen = [], [going]
        for name, null in zip(names, pattern, strict=True):
            chosen.append(gone.c[name].is_(None) if null else gone.c[name].is_not(None))
            same.append(table.c[name].is_(None) if null else table.c[name] == gone.c[name])
        within = func.row_number().over(
            partition_by=[table.c[name] for name in names], order_by=place
        )
        matched = (
            select(place.label("place"), within.label("n"), gone.c[column])
            .select_from(table.join(gone, and_(*same, *chosen)))
            .subquery()
        )
        doomed = select(matched.c.place).where(matched.c.n <= -matched.c[column])
        removed = connection.execute(delete(table).where(place.in_(doomed)))
        check_removed(table, removed.rowcount, wanted(connection, gone, column, and_(*chosen)))


def wanted(connection: Connection, gone: Table, column: str, chosen: ColumnElement[bool]) -> int:
    """How many rows are to be removed."""
    counts = select(func.sum(-gone.c[column])).where(gone.c[column] < 0, chosen)
    return int(connection.scalar(counts) or 0)


def check_removed(table: Table, removed: int, wanted: int) -> None:
    """All rows that go must have been there."""
    if removed != wanted:
        raise PermanentError(
            f"{wanted} rows were to be removed from {table.name!r}, and {removed} of them are"
            " there: somebody else has changed the table. Empty it and run on a new store, or undo"
            " that"
        )


def stored_at(connection: Connection, table: Table) -> ColumnElement[Any]:
    """Where a row is stored in its table: tells two equal rows apart."""
    name = connection.dialect.identifier_preparer.format_table(table)
    return literal_column(f"{name}.{PLACES[connection.dialect.name]}")


def staged(
    connection: Connection,
    table: Table,
    names: Sequence[str],
    pieces: Pieces,
    *further: Column[Any],
) -> Table:
    """All rows in a table of the transaction's own."""
    stage = own_table(connection, table, names, *further)
    load(connection, stage, pieces)
    analyse(connection, stage)
    return stage


def analyse(connection: Connection, table: Table) -> None:
    """Has PostgreSQL look at a table that was just filled, so that it joins it well."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"ANALYZE {table.name}")


def check_keys(connection: Connection, table: Table, stage: Table, key: Sequence[str]) -> None:
    """Refuses rows without a key, and two rows with one."""
    columns = [stage.c[name] for name in key]
    listed = ", ".join(key)
    if connection.scalar(select(literal(1)).where(or_(*(c.is_(None) for c in columns))).limit(1)):
        raise PermanentError(
            f"a row for {table.name!r} has no key: {listed} must not be null; leave such rows out"
        )
    several = select(literal(1)).group_by(*columns).having(func.count() > 1).limit(1)
    if connection.scalar(several.select_from(stage)):
        raise PermanentError(
            f"two rows for {table.name!r} have the same key ({listed}) at one time, and there is"
            " no order among them: add them up first, for instance by group_by"
        )


def is_unique(connection: Connection, table: Table, key: Sequence[str]) -> bool:
    """Whether the database itself keeps keys apart."""
    found = inspect(connection)
    ways = [found.get_pk_constraint(table.name, schema=table.schema)["constrained_columns"]]
    ways += [
        each["column_names"]
        for each in found.get_unique_constraints(table.name, schema=table.schema)
    ]
    for index in found.get_indexes(table.name, schema=table.schema):
        partial = index.get("dialect_options", {})
        if index["unique"] and not any(name.endswith(("_where", "_length")) for name in partial):
            ways.append([name for name in index["column_names"] if name is not None])
    return any(set(way) == set(key) for way in ways)
