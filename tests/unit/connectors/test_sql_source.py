"""A table by its key: nothing that is committed late is missed, and no value is changed."""

import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.contracts.databases import Outside, open_outside, outside

from falkirk.connectors import TableSink, TableSource
from falkirk.core.errors import PermanentError
from falkirk.dataflow import Limit
from falkirk.testing.contracts import Rows
from falkirk.testing.contracts.sinks import all_types
from falkirk.testing.contracts.sources import counted

__all__ = ["outside"]

ALL = Limit()


@pytest.fixture
def events(request: pytest.FixtureRequest, tmp_path: Path) -> Outside:
    """A PostgreSQL database with a table whose keys are drawn from a sequence."""
    found = open_outside("postgres", tmp_path, request)
    found.execute("CREATE TABLE events (id BIGSERIAL PRIMARY KEY, v TEXT)")
    return found


@pytest.mark.slow
def test_a_row_that_is_committed_late_is_not_missed(events: Outside) -> None:
    source = TableSource(events.url, "events", watch=True)
    with psycopg.connect(events.place) as slow:
        slow.execute("INSERT INTO events (v) VALUES ('late')")  # it has the key 1
        events.execute("INSERT INTO events (v) VALUES ('early')")
        assert source.latest(None, ALL) is None, "key 2 is there, and key 1 may still come"
        slow.commit()
    assert source.latest(None, ALL) == 2
    assert source.read(None, None, 2).to_pylist() == [
        {"id": 1, "v": "late"},
        {"id": 2, "v": "early"},
    ]
    source.close()


@pytest.mark.slow
def test_who_writes_all_the_time_does_not_stop_the_reader(events: Outside) -> None:
    """Each step waits for those who were there when it began, not for those who come later."""
    source, position = TableSource(events.url, "events", watch=True), None
    writer = psycopg.connect(events.place)
    writer.execute("INSERT INTO events (v) VALUES ('first')")
    for _ in range(5):
        another = psycopg.connect(events.place)
        another.execute("INSERT INTO events (v) VALUES ('next')")
        assert source.latest(position, ALL) == position
        writer.commit()
        writer.close()
        found = source.latest(position, ALL)
        assert found != position or position is None
        position, writer = found, another
    writer.close()
    source.close()
    assert position is not None


@pytest.mark.slow
def test_who_gave_up_leaves_a_gap(events: Outside) -> None:
    source = TableSource(events.url, "events")
    with psycopg.connect(events.place) as gone:
        gone.execute("INSERT INTO events (v) VALUES ('never')")
        events.execute("INSERT INTO events (v) VALUES ('there')")
        assert source.latest(None, ALL) is None
        assert not source.finished(None), "there is a row, though it cannot be read yet"
        gone.rollback()
    assert source.latest(None, ALL) == 2
    source.close()


@pytest.mark.slow
def test_readers_of_the_table_are_not_waited_for(events: Outside) -> None:
    events.execute("INSERT INTO events (v) VALUES ('there')")
    source = TableSource(events.url, "events")
    with psycopg.connect(events.place) as reader:
        reader.execute("SELECT * FROM events")
        assert source.latest(None, ALL) == 1
    source.close()


def test_a_key_is_left_alone_for_as_long_as_one_says(outside: Outside) -> None:
    outside.execute("CREATE TABLE t (id BIGINT)", "INSERT INTO t VALUES (1)")
    source = TableSource(outside.url, "t", settle_seconds=0.2, watch=True)
    assert source.latest(None, ALL) is None
    deadline = time.monotonic() + 10
    while source.latest(None, ALL) is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert source.latest(None, ALL) == 1
    source.close()


def test_keys_are_compared_by_the_database(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """For Python "a" is larger than "B"; for this table it is not."""
    outside = open_outside("sqlite", tmp_path, request)
    outside.execute("CREATE TABLE t (id TEXT COLLATE NOCASE)", "INSERT INTO t VALUES ('B'), ('a')")
    source = TableSource(outside.url, "t")
    first = source.latest(None, Limit(rows=1))
    assert first == "a"
    for limit in (Limit(rows=1), ALL):
        assert source.latest(first, limit) == "B"
        assert source.latest("B", limit) == "B"
    source.close()


@pytest.mark.slow
def test_every_type_comes_back(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    outside = open_outside("postgres", tmp_path, request)
    sink, written = TableSink(outside.url, "t"), all_types()
    sink.write("o", (0,), Rows(written))
    sink.close()
    source = TableSource(outside.url, "t", key="k")
    found = source.read(None, None, source.latest(None, ALL))
    source.close()
    assert counted(found.to_pylist()) == counted(written.to_pylist())


@pytest.mark.slow
def test_numbers_without_bounds_and_documents(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    outside = open_outside("postgres", tmp_path, request)
    outside.execute(
        "CREATE TABLE t (id NUMERIC, doc JSONB, u UUID, at TIMESTAMPTZ)",
        "INSERT INTO t VALUES (1.5, '{\"a\": [1]}', '00000000-0000-0000-0000-000000000001', now())",
    )
    source = TableSource(outside.url, "t", columns=["id", "doc", "u"])
    position = source.latest(None, ALL)
    (row,) = source.read(None, None, position).to_pylist()
    assert row["id"] == Decimal("1.5")
    assert row["doc"] == '{"a": [1]}'
    assert row["u"].endswith("01")
    assert source.finished(position)
    source.close()
    outside.execute("INSERT INTO t (id) VALUES (1.1234567890123456789)")
    source = TableSource(outside.url, "t", key="at")
    with pytest.raises(PermanentError, match="does not fit"):
        source.read(None, None, None)
    source.close()


def test_what_rows_cannot_hold_is_refused(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    outside = open_outside("sqlite", tmp_path, request)
    outside.execute("CREATE TABLE t (id INTEGER, at TIME)")
    refused: dict[str, Any] = {"at": {}, "nothing": {"table": "nothing"}, "k": {"key": "k"}}
    for named, options in refused.items():
        source = TableSource(outside.url, **{"table": "t", **options})
        with pytest.raises(PermanentError, match=named):
            source.latest(None, ALL)
    source = TableSource(outside.url, "t", columns=["id"])
    assert source.latest(None, ALL) is None
