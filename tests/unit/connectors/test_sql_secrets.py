"""Passwords are in the address and nowhere else; faults that pass are told from those that stay."""

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
from sqlalchemy.exc import OperationalError, ProgrammingError
from tests.contracts.databases import Outside, open_outside

from falkirk.connectors import QueueSource, TableSink, TableSource
from falkirk.connectors.sql.failures import passes, told
from falkirk.core.errors import OutageError, PermanentError, StoreError
from falkirk.store import open_store
from falkirk.store.redaction import redacted
from falkirk.testing.contracts.sinks import some
from falkirk.testing.contracts.sources import refuse_secrets

SECRETS = ("p%40ss-word", "p@ss-word", "key-pass")
URL = "postgresql://someone:p%40ss-word@127.0.0.1:9/db?sslpassword=key-pass&connect_timeout=2"


@pytest.mark.parametrize(
    "connector",
    [
        kind(url, "t")
        for url in (URL, URL.replace("postgresql", "mysql"))
        for kind in (TableSink, TableSource, QueueSource)
    ],
    ids=lambda each: str(each),
)
def test_nothing_shows_a_secret(connector: Any) -> None:
    for text in (repr(connector), str(connector), f"{connector}", redacted(connector.url)):
        assert not [secret for secret in SECRETS if secret in text]
        assert "127.0.0.1:9/db" in text


@pytest.mark.parametrize("url", ["postgresql//me:p@ss-word@host", "", "::"])
def test_an_address_that_cannot_be_read_is_not_repeated(url: str) -> None:
    sink = TableSink(url, "t")
    assert "p@ss-word" not in repr(sink)
    with pytest.raises(PermanentError) as refused:
        sink.write("o", (0,), some(0))
    refuse_secrets(refused.value, ("p@ss-word",))


def test_the_address_of_a_store_is_not_repeated(tmp_path: Path) -> None:
    unreadable = "postgresql://p@ss-word:x@ho st:port/db"
    for address in (unreadable, URL, f"{URL}&data={tmp_path}"):
        with pytest.raises(StoreError) as refused:
            open_store(address)
        refuse_secrets(refused.value, SECRETS)


def test_whatever_a_driver_says_is_scrubbed() -> None:
    for said in (URL, "cannot use password p@ss-word", "sslpassword=key-pass is wrong"):
        with pytest.raises(OutageError) as failed, told(URL, "read", (psycopg.Error,)):
            raise psycopg.OperationalError(said)
        refuse_secrets(failed.value, SECRETS)


@pytest.mark.slow
def test_rows_are_not_shown_either(request: pytest.FixtureRequest, tmp_path: Any) -> None:
    outside: Outside = open_outside("postgres", tmp_path, request)
    outside.execute("CREATE TABLE t (k BIGINT, v VARCHAR(2))")
    sink = TableSink(outside.url.replace("+psycopg", ""), "t")
    with pytest.raises(PermanentError) as failed:
        sink.write("o", (0,), some(7))
    sink.close()
    assert "value too long" in str(failed.value)


def sqlalchemys(kind: Any, cause: Exception) -> Any:
    """An error of the driver as SQLAlchemy wraps it."""
    return kind("SELECT 1", {}, cause)


def with_state(kind: type[psycopg.Error], state: str) -> psycopg.Error:
    """An error of PostgreSQL with a state."""
    error = kind("said the server")
    error.sqlstate = state  # type: ignore[misc]
    return error


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (psycopg.OperationalError("connection refused"), True),
        (psycopg.OperationalError("the database system is starting up"), True),
        (psycopg.OperationalError('password authentication failed for user "x"'), False),
        (psycopg.OperationalError('database "x" does not exist'), False),
        (with_state(psycopg.OperationalError, "57P01"), True),
        (with_state(psycopg.OperationalError, "40001"), True),
        (with_state(psycopg.OperationalError, "53300"), True),
        (with_state(psycopg.OperationalError, "55P03"), True),
        (with_state(psycopg.ProgrammingError, "42P01"), False),
        (with_state(psycopg.DataError, "22001"), False),
        (sqlite3.OperationalError("database is locked"), True),
        (sqlite3.OperationalError("no such table: t"), False),
        (sqlite3.OperationalError("unable to open database file"), False),
        (psycopg.DataError("wrong"), False),
        (pymysql.err.OperationalError(2003, "Can't connect to MySQL server"), True),
        (pymysql.err.OperationalError(1205, "Lock wait timeout exceeded"), True),
        (pymysql.err.OperationalError(1213, "Deadlock found"), True),
        (pymysql.err.OperationalError(1045, "Access denied for user 'x'"), False),
        (pymysql.err.OperationalError(1366, "Incorrect string value"), False),
        (pymysql.err.OperationalError("already closed"), True),
    ],
    ids=lambda each: str(each),
)
def test_what_passes(cause: Exception, expected: bool) -> None:
    kind = OperationalError if "Operational" in type(cause).__name__ else ProgrammingError
    assert passes(sqlalchemys(kind, cause), cause) is expected
    assert passes(cause, cause) is expected
