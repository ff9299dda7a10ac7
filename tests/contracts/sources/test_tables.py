"""Tables and queues keep the contract of a source, in SQLite, in PostgreSQL and in MariaDB."""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from tests.contracts.databases import SECRET, FewerDatabases, Outside, outside

from falkirk.connectors import QueueSource, TableSource
from falkirk.testing.contracts import SourceContract

__all__ = ["outside"]

ROWS = [{"id": 10 * n, "v": f"row {n}"} for n in range(1, 11)]


SETTLED: dict[str, Any] = {"settle_seconds": 0}
"""Nobody writes while these tests read; MariaDB would not say so."""


def fill(outside: Outside, table: str, further: str = "") -> None:
    """A table with all rows; keys have gaps, and rows are not in their order."""
    outside.execute(
        f"CREATE TABLE {table} (id BIGINT PRIMARY KEY, v TEXT {further})",
        *(insertion(table, row) for row in reversed(ROWS)),
    )


def insertion(table: str, row: dict[str, Any]) -> str:
    """The statement that adds a row."""
    return f"INSERT INTO {table} (id, v) VALUES ({row['id']}, '{row['v']}')"


class Tables(SourceContract):
    """What both share."""

    secrets = (SECRET,)

    @pytest.fixture
    def expected(self) -> list[dict[str, Any]]:
        return ROWS

    @pytest.fixture
    def more(self, outside: Outside) -> Callable[[], Any]:
        def add() -> list[dict[str, Any]]:
            added = [{"id": id, "v": "late"} for id in (101, 102, 103, 104)]
            outside.execute(*(insertion("source", row) for row in added))
            return added

        return add


class TestTable(Tables):
    """A range of keys an epoch."""

    @pytest.fixture
    def make(self, outside: Outside) -> Callable[[], Any]:
        fill(outside, "source")
        return lambda: TableSource(outside.url, "source", **SETTLED)

    @pytest.fixture
    def unreachable(self) -> Any:
        return TableSource(f"postgresql://me:{SECRET}@127.0.0.1:9/none?connect_timeout=2", "source")


class TestTableByText(Tables):
    """Keys need not be numbers."""

    @pytest.fixture
    def make(self, outside: Outside) -> Callable[[], Any]:
        outside.execute(
            "CREATE TABLE source (id BIGINT, v VARCHAR(20) PRIMARY KEY)",
            *(insertion("source", row) for row in ROWS),
        )
        return lambda: TableSource(outside.url, "source", key="v", columns=["id"], **SETTLED)

    @pytest.fixture
    def expected(self) -> list[dict[str, Any]]:
        return [{"id": row["id"]} for row in ROWS]

    @pytest.fixture
    def more(self, outside: Outside) -> Callable[[], Any]:
        def add() -> list[dict[str, Any]]:
            outside.execute(insertion("source", {"id": 1, "v": "zz"}))
            return [{"id": 1}]

        return add


class TestWatchedTable(FewerDatabases, TestTable):
    """It never ends."""

    ends = False

    @pytest.fixture
    def make(self, outside: Outside) -> Callable[[], Any]:
        fill(outside, "source")
        return lambda: TableSource(outside.url, "source", watch=True, **SETTLED)


LEASES = ", falkirk_consumer TEXT, falkirk_lease BIGINT, falkirk_until DOUBLE PRECISION"


class TestQueue(Tables):
    """A lease an epoch; what is acknowledged is deleted."""

    options: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def make(self, outside: Outside) -> Callable[[], Any]:
        fill(outside, "source", LEASES)
        return lambda: QueueSource(outside.url, "source", **self.options)

    @pytest.fixture
    def unreachable(self) -> Any:
        return QueueSource(f"postgresql://me:{SECRET}@127.0.0.1:9/none?connect_timeout=2", "source")


class TestQueueThatKeeps(FewerDatabases, TestQueue):
    """What is acknowledged is marked."""

    options: ClassVar[dict[str, Any]] = {"keep": True}
