"""Making tables: within the transaction that needs them, or aside where that would end it."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import Column, Connection, MetaData, Table, text
from sqlalchemy.schema import CreateTable

from falkirk.connectors.sql import mysql


def make_table(
    connection: Connection, name: str, schema: str | None, columns: Sequence[Column[Any]]
) -> Table | None:
    """Makes a table that is missing; None if somebody else may have been faster.

    On MariaDB and MySQL it is made by a transaction of its own. What is left if ours fails is an
    empty table, which the next one finds.
    """
    options = mysql.table_options(connection)
    table: Table = Table(name, MetaData(), *columns, schema=schema, **options)
    if not mysql.is_mysql(connection):
        table.create(connection)
        return table
    with connection.engine.begin() as another:
        another.execute(CreateTable(table, if_not_exists=True))
    return None


def own_table(
    connection: Connection, table: Table, names: Sequence[str], *further: Column[Any]
) -> Table:
    """A table that nobody else sees, with some columns of ``table`` and further ones."""
    options = mysql.table_options(connection)
    made: Table = Table(
        f"falkirk_stage_{uuid4().hex[:12]}",
        MetaData(),
        *(Column(name, table.c[name].type, nullable=True) for name in names),
        *further,
        prefixes=["TEMPORARY"],
        **options,
    )
    made.create(connection)
    return made


def drop_own(connection: Connection, table: Table) -> None:
    """Drops such a table; without the word MariaDB and MySQL would end the transaction."""
    if mysql.is_mysql(connection):
        connection.execute(text(f"DROP TEMPORARY TABLE {table.name}"))
    else:
        table.drop(connection)
