"""MariaDB and MySQL: what a session is told, which tables can be relied on, and which faults pass.

There a statement that makes a table ends the transaction that it is in. So tables are made aside,
before any row is written; temporary ones are the exception.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table, text

from falkirk.core.errors import OutageError, PermanentError

NAMES = ("mysql", "mariadb")
"""What SQLAlchemy calls them."""

DRIVERS = ("pymysql", "MySQLdb", "mysql", "mariadb", "asyncmy", "cymysql")
"""Modules whose errors begin with a number of the server's."""

PASSING = frozenset(
    {1021, 1040, 1041, 1042, 1053, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1205, 1206, 1213}
    | {1290, 1317, 1836, 1927, 1969, 2002, 2003, 2006, 2012, 2013, 2014, 2055, 3024, 3572, 4031}
)
"""Numbers of errors that pass: connections, conflicts, locks, resources, a server that is stopping
or, after a failover, does not write yet."""

EXACT = ("_nopad_bin", "_0900_bin")
"""How the names of collations end that tell all texts apart: letters by their case, and spaces at
the end."""

NAMES_LOCK = "falkirk_sinks"


def is_mysql(connection: Connection) -> bool:
    """Whether it is one of them."""
    return connection.dialect.name in NAMES


def prepare(connection: Any, busy_seconds: int) -> None:
    """Tells a new session to refuse what does not fit, to keep to UTC, and not to wait for ever."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SET SESSION sql_mode ="
            " CONCAT(@@sql_mode, ',STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'),"
            f" time_zone = '+00:00', innodb_lock_wait_timeout = {busy_seconds},"
            f" lock_wait_timeout = {busy_seconds}"
        )


def number_of(error: BaseException) -> int | None:
    """The number of an error of one of their drivers, None for any other error."""
    ours = type(error).__module__.partition(".")[0] in DRIVERS
    number = error.args[0] if ours and error.args else None
    return number if isinstance(number, int) else None


def table_options(connection: Connection) -> dict[str, Any]:
    """What a table that we make needs: transactions, and texts that are equal only if they are."""
    if not is_mysql(connection):
        return {}
    options = {"engine": "InnoDB", "charset": "utf8mb4", "collate": exact_collation(connection)}
    return {f"{connection.dialect.name}_{name}": value for name, value in options.items()}


def exact_collation(connection: Connection) -> str:
    """One that tells all texts apart."""
    dialect: Any = connection.dialect
    return "utf8mb4_nopad_bin" if dialect.is_mariadb else "utf8mb4_0900_bin"


def check_table(connection: Connection, table: Table, compared: Sequence[str]) -> None:
    """Refuses a table without transactions, and ``compared`` texts that are not told apart."""
    quoted = connection.dialect.identifier_preparer
    named, place = quoted.format_table(table), {"name": table.name, "place": table.schema}
    engine, transactions = connection.execute(ENGINE, place).one()
    if transactions != "YES":
        raise PermanentError(
            f"the table {table.name!r} is kept by {engine}, which has no transactions: change it"
            f" (ALTER TABLE {named} ENGINE = InnoDB)"
        )
    for column, collation in connection.execute(COLLATIONS, place):
        if column in compared and not collation.endswith(EXACT):
            raise PermanentError(
                f"the column {column!r} of the table {table.name!r} has the collation {collation},"
                f" in which different texts are equal: change it (ALTER TABLE {named} MODIFY"
                f" {quoted.quote(column)} … COLLATE {exact_collation(connection)}), or have the"
                " table made anew"
            )


ENGINE = text(
    "SELECT t.engine, e.transactions FROM information_schema.tables t"
    " LEFT JOIN information_schema.engines e ON e.engine = t.engine"
    " WHERE t.table_schema = COALESCE(:place, DATABASE()) AND t.table_name = :name"
)

COLLATIONS = text(
    "SELECT column_name, collation_name FROM information_schema.columns"
    " WHERE table_schema = COALESCE(:place, DATABASE()) AND table_name = :name"
    " AND collation_name IS NOT NULL"
)


def lock_names(connection: Connection, busy_seconds: int) -> None:
    """Lets nobody else make marks until :func:`unlock_names`; no transaction ends this lock.

    It is taken once: a session that takes it twice must release it twice.
    """
    if connection.info.get(NAMES_LOCK):
        return
    asked = {"name": NAMES_LOCK, "seconds": busy_seconds}
    if connection.scalar(text("SELECT GET_LOCK(:name, :seconds)"), asked) != 1:
        raise OutageError("somebody else has been making marks for too long")
    connection.info[NAMES_LOCK] = True


def unlock_names(connection: Connection) -> None:
    """Lets others go on, when the transaction has ended."""
    if connection.info.pop(NAMES_LOCK, False):
        connection.execute(text("SELECT RELEASE_LOCK(:name)"), {"name": NAMES_LOCK})
