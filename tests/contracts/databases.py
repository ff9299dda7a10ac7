"""Databases that the suites for sources and sinks are run against."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.servers.mariadb import Mariadb
from tests.servers.mariadb import connect as connect_mariadb
from tests.servers.postgres import Server

SECRET = "hush-hush"

POSTGRES = pytest.param("postgres", marks=pytest.mark.slow)
MARIADB = pytest.param("mariadb", marks=pytest.mark.slow)
"""Left out by ``make check``: they need a server."""

KINDS = ["sqlite", POSTGRES, MARIADB]


@dataclass(frozen=True)
class Outside:
    """A database that tests look into by its own driver, and never by ours."""

    kind: str
    url: str
    place: str

    def execute(self, *statements: str) -> None:
        """Carries out statements, each at once."""
        with self.connected() as connection:
            for statement in statements:
                connection.execute(statement)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """What a query finds."""
        with self.connected() as connection:
            return [dict(row) for row in connection.execute(query).fetchall()]

    def connected(self) -> Any:
        """A connection that commits at once, and closes at the end of a block."""
        if self.kind == "postgres":
            return psycopg.connect(self.place, autocommit=True, row_factory=dict_row)
        if self.kind == "mariadb":
            return connect_mariadb(self.place)
        connection = sqlite3.connect(self.place, timeout=30, isolation_level=None)
        connection.row_factory = sqlite3.Row
        return closing(connection)

    def shown(self, table: str = "out") -> Callable[[], list[dict[str, Any]]]:
        """A function that reads a table, with the values that were written."""

        def read() -> list[dict[str, Any]]:
            if not self.rows(f"SELECT count(*) AS n FROM {CATALOGUES[self.kind]} = '{table}'")[0][
                "n"
            ]:
                return []
            return [restored(row) for row in self.rows(f'SELECT * FROM "{table}"')]

        return read


CATALOGUES = {
    "sqlite": "sqlite_master WHERE name",
    "postgres": "pg_tables WHERE tablename",
    "mariadb": "information_schema.tables WHERE table_schema = DATABASE() AND table_name",
}
"""Where the names of all tables are."""


def open_outside(kind: str, folder: Path, request: pytest.FixtureRequest) -> Outside:
    """An empty database of a kind; its address has a password."""
    if kind == "sqlite":
        path = str(folder / "outside.sqlite")
        return Outside(kind, f"sqlite:///{path}", path)
    server: Server | Mariadb = request.getfixturevalue(kind)
    place = server.empty_database()
    return Outside(kind, place.replace("falkirk@", f"falkirk:{SECRET}@"), place)


@pytest.fixture(params=KINDS)
def outside(request: pytest.FixtureRequest, tmp_path: Path) -> Outside:
    """Every kind of database."""
    return open_outside(request.param, tmp_path, request)


class FewerDatabases:
    """For suites in which MariaDB does nothing that it does not do in another."""

    @pytest.fixture(params=["sqlite", POSTGRES])
    def outside(self, request: pytest.FixtureRequest, tmp_path: Path) -> Outside:
        """The others."""
        return open_outside(request.param, tmp_path, request)


def restored(row: dict[str, Any]) -> dict[str, Any]:
    """The values of a row as they were written; SQLite has some of them as text."""
    return {name: value_of(name, value) for name, value in row.items()}


def value_of(name: str, value: Any) -> Any:
    """A value by the name of its column in the table of all types."""
    if value is None:
        return None
    change = {
        "a_bool": bool,
        "a_decimal": lambda text: Decimal(str(text)),
        "a_moment": moment,
        "a_local_moment": lambda found: moment(found).replace(tzinfo=None),
        "a_date": lambda text: text if isinstance(text, date) else date.fromisoformat(text),
    }.get(name)
    return change(value) if change else value


def moment(found: Any) -> datetime:
    """A moment in UTC."""
    read = found if isinstance(found, datetime) else datetime.fromisoformat(found)
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
