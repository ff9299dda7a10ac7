"""Tables keep the contract of a sink, in SQLite, in PostgreSQL and in MariaDB."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.contracts.databases import SECRET, FewerDatabases, Outside, outside

from falkirk.connectors import TableSink
from falkirk.testing.contracts import SinkContract

__all__ = ["outside"]


class Tables(SinkContract):
    """What all modes share."""

    secrets = (SECRET,)
    options: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def make(self, outside: Outside) -> Callable[[], Any]:
        return lambda: TableSink(outside.url, "out", **self.options)

    @pytest.fixture
    def shown(self, outside: Outside) -> Callable[[], Any]:
        return outside.shown()

    @pytest.fixture
    def unreachable(self, outside: Outside, tmp_path: Path) -> Any:
        if outside.kind == "sqlite":
            return TableSink(f"sqlite:///{tmp_path}/{SECRET}/none", "out", **self.options)
        url = f"postgresql://me:{SECRET}@127.0.0.1:9/none?connect_timeout=2&sslpassword={SECRET}"
        return TableSink(url, "out", **self.options)

    def test_errors_do_not_tell_secrets(self, unreachable: Any, outside: Outside) -> None:
        if outside.kind == "sqlite":
            pytest.skip("a path is no secret")
        super().test_errors_do_not_tell_secrets(unreachable)


class TestAppend(Tables):
    """Rows are added."""


class TestAppendWithEpochs(Tables):
    """Rows are added with their epochs, so that they can be taken back."""

    options: ClassVar[dict[str, Any]] = {"epoch": "epoch"}

    @pytest.fixture
    def shown(self, outside: Outside) -> Callable[[], Any]:
        read = outside.shown()
        return lambda: [row for row in read() if row.pop("epoch") >= 0]

    def test_rows_say_of_which_epoch_they_are(self, sink: Any, some: Any, outside: Outside) -> None:
        sink.write("out", (3,), some(0))
        sink.write("out", (7,), some(1, 2))
        assert sorted(row["epoch"] for row in outside.shown()()) == [3, 7, 7]


class TestAppendAtLeastOnce(FewerDatabases, Tables):
    """Rows are added, and the table has no mark."""

    options: ClassVar[dict[str, Any]] = {"at_least_once": True}


class TestUpsert(Tables):
    """Rows are put by their key."""

    options: ClassVar[dict[str, Any]] = {"mode": "upsert", "key": "k"}


class TestUpsertWithoutAnIndex(Tables):
    """Rows are put by their key into a table that does not know it as one."""

    options: ClassVar[dict[str, Any]] = {"mode": "upsert", "key": ["k"]}

    @pytest.fixture
    def make(self, outside: Outside, request: pytest.FixtureRequest) -> Callable[[], Any]:
        if "type_of_column" not in request.node.name:
            outside.execute('CREATE TABLE "out" (k BIGINT, v TEXT)')
        return lambda: TableSink(outside.url, "out", **self.options)


class TestShared(FewerDatabases, Tables):
    """Other outputs write to the table too."""

    options: ClassVar[dict[str, Any]] = {"shared": True}
