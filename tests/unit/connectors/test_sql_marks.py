"""Whose times are in a table: another store's are neither swallowed nor mixed in."""

from typing import Any

import pytest
from tests.contracts.databases import Outside, open_outside, outside

from falkirk.connectors import TableSink
from falkirk.core.errors import OutageError, PermanentError
from falkirk.testing.contracts.sinks import rows_of, some

__all__ = ["outside"]


def written(outside: Outside, store: str, *times: int, name: str = "o", **options: Any) -> None:
    """A run that writes some times; each has one row, its number."""
    sink = TableSink(outside.url, "out", **options)
    try:
        sink.attach(name, store)
        for time in times:
            sink.write(name, (time,), some(time))
    finally:
        sink.close()


def test_the_table_of_another_store_is_emptied_if_that_is_wanted(outside: Outside) -> None:
    written(outside, "old", 0, 1)
    with pytest.raises(PermanentError, match="replace=True"):
        written(outside, "new", 0)
    assert outside.shown()() == rows_of(0, 1)
    written(outside, "new", 0, replace=True)
    written(outside, "new", 0, 1, 2, replace=True)
    assert outside.shown()() == rows_of(0, 1, 2)
    with pytest.raises(PermanentError):
        written(outside, "old", 2)


def test_a_table_that_another_output_fills_too_is_not_emptied(outside: Outside) -> None:
    written(outside, "new", 5, name="other")
    written(outside, "old", 0, shared=True)
    with pytest.raises(PermanentError, match="'other'"):
        written(outside, "new", 0, replace=True)
    assert outside.shown()() == rows_of(5, 0)


def test_flows_can_share_a_table(outside: Outside) -> None:
    written(outside, "one", 0, name="a", shared=True)
    written(outside, "two", 0, name="b", shared=True)
    with pytest.raises(PermanentError):
        written(outside, "three", 1, name="a", shared=True)
    assert outside.shown()() == rows_of(0, 0)


def test_who_lost_the_table_to_another_store_writes_no_more(outside: Outside) -> None:
    old = TableSink(outside.url, "out")
    old.attach("o", "old")
    old.write("o", (0,), some(0))
    written(outside, "new", 3, replace=True)
    with pytest.raises(PermanentError, match="somebody else"):
        old.write("o", (1,), some(1))
    old.close()
    assert outside.shown()() == rows_of(3)


def test_a_mark_that_was_deleted_is_not_made_anew(outside: Outside) -> None:
    sink = TableSink(outside.url, "out")
    sink.attach("o", "store")
    sink.write("o", (0,), some(0))
    outside.execute("DELETE FROM falkirk_sinks")
    with pytest.raises(PermanentError, match="nobody"):
        sink.write("o", (1,), some(1))
    sink.close()


@pytest.mark.slow
def test_the_mark_is_in_the_schema_of_its_table(
    request: pytest.FixtureRequest, tmp_path: Any
) -> None:
    outside = open_outside("postgres", tmp_path, request)
    outside.execute("DROP SCHEMA IF EXISTS sales CASCADE", "CREATE SCHEMA sales")
    sink = TableSink(outside.url, "sales.orders", mode="upsert", key="k")
    sink.attach("o", "store")
    sink.write("o", (4,), some(1))
    sink.write("o", (4,), some(1))
    sink.close()
    assert outside.rows("SELECT * FROM sales.orders") == rows_of(1)
    (mark,) = outside.rows("SELECT * FROM sales.falkirk_sinks")
    outside.execute("DROP SCHEMA sales CASCADE")
    assert mark == {"output": "o", "table_name": "orders", "store": "store", "time": "[4]"}


def test_a_lock_that_somebody_holds_passes(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("falkirk.connectors.sql.database.BUSY_SECONDS", 1)
    sink = TableSink(outside.url, "out")
    sink.attach("o", "store")
    with outside.connected() as other:
        other.execute("BEGIN IMMEDIATE" if outside.kind == "sqlite" else "BEGIN")
        other.execute("UPDATE falkirk_sinks SET time = time")
        with pytest.raises(OutageError):
            sink.write("o", (0,), some(0))
        other.execute("ROLLBACK")
    sink.write("o", (0,), some(0))
    sink.close()
    assert outside.shown()() == rows_of(0)
