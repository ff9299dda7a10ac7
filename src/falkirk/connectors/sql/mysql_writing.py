"""How rows are put and removed on MariaDB and MySQL, which cannot tell two equal rows apart."""

from collections.abc import Sequence

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from falkirk.connectors.sql.making import own_table


def put(
    connection: Connection, table: Table, stage: Table, names: Sequence[str], key: Sequence[str]
) -> None:
    """Changes the rows whose keys are there, and adds the others.

    ``ON DUPLICATE KEY`` would also take the place of a row with another key, if an index of the
    table's own holds the two for equal; here that is an error.
    """
    same = and_(*(table.c[name] == stage.c[name] for name in key))
    rest = {name: stage.c[name] for name in names if name not in key}
    if rest:
        connection.execute(update(table).where(same).values(rest))
    there = exists().where(same).correlate(stage)
    new = select(*(stage.c[name] for name in names)).where(~there)
    connection.execute(insert(table).from_select(list(names), new))


def take_out(
    connection: Connection, table: Table, names: Sequence[str], gone: Table, column: str
) -> tuple[int, Table]:
    """Removes all copies of each row that goes: how many were to go and were there, and what of
    them stays and is to be added again."""
    same = and_(*(table.c[name].is_not_distinct_from(gone.c[name]) for name in names))
    going = gone.c[column] < 0
    columns = [gone.c[name] for name in names]
    count = func.count().label("there")
    found = (
        select(*columns, gone.c[column], count)
        .select_from(table.join(gone, same))
        .where(going)
        .group_by(*columns, gone.c[column])
        .subquery()
    )
    stays = own_table(connection, table, names, Column(column, BigInteger), Column("n", BigInteger))
    rows = select(
        *(found.c[name] for name in names),
        found.c.there + found.c[column],
        func.least(found.c.there, -found.c[column]),
    )
    connection.execute(insert(stays).from_select([*names, column, "n"], rows))
    removed = connection.scalar(select(func.sum(stays.c.n)))
    connection.execute(delete(table).where(same, going))
    return int(removed or 0), stays
