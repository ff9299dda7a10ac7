"""One database: connections when they are needed, transactions that are durable when they end."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, text

from falkirk.connectors.sql import mysql
from falkirk.connectors.sql.address import parsed
from falkirk.connectors.sql.failures import told
from falkirk.core.errors import PermanentError
from falkirk.store.redaction import redacted

BUSY_SECONDS = 30

WRITTEN = ("postgresql", "sqlite", *mysql.NAMES)
"""Databases in which rows and a mark are written in one transaction, as they are or not at all."""


class Database:
    """The database at an address. Safe to use from several threads, and again after ``close``."""

    def __init__(self, address: str) -> None:
        """Nothing is opened yet."""
        self.address, self.place = address, redacted(address)
        self._engine: Engine | None = None
        self._lock = Lock()

    @property
    def engine(self) -> Engine:
        """Made when it is first needed."""
        with self._lock:
            if self._engine is None:
                self._engine = make_engine(self.address)
            return self._engine

    @contextmanager
    def reading(self, doing: str = "read") -> Iterator[Connection]:
        """One look; each statement sees what is committed by then."""
        engine = self.engine
        with told(self.address, doing, driver_errors(engine)), engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self, doing: str = "written to") -> Iterator[Connection]:
        """One transaction: it is durable when this ends, or it never was."""
        engine = self.engine.execution_options(falkirk_writes=True)
        with told(self.address, doing, driver_errors(engine)), engine.connect() as connection:
            try:
                with connection.begin():
                    if connection.dialect.name == "postgresql":
                        # What we take for done must not be gone after a crash, whatever the
                        # server's default is; and who has stopped in a transaction must not stop
                        # us for ever.
                        connection.execute(text("SET LOCAL synchronous_commit = on"))
                        connection.execute(text(f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'"))
                    yield connection
            except BaseException:
                if mysql.is_mysql(connection):
                    connection.invalidate()  # temporary tables and locks go with the session only
                raise
            unlock_names(connection)

    def close(self) -> None:
        """Closes all connections."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None


def make_engine(address: str) -> Engine:
    """An engine whose errors show no rows; SQLite begins where we say."""
    url = parsed(address)
    try:
        if url.get_backend_name() in mysql.NAMES:
            return mysql_engine(url)
        if url.get_backend_name() != "sqlite":
            return create_engine(url, hide_parameters=True, pool_pre_ping=True, pool_size=2)
        engine = create_engine(
            url,
            hide_parameters=True,
            poolclass=NullPool,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        )
    except ImportError as error:
        raise PermanentError(
            f"{redacted(address)} needs a driver that is not installed ({error}); for PostgreSQL:"
            " pip install 'falkirk[postgres]', for MariaDB and MySQL: 'falkirk[mysql]'"
        ) from None

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, not where it guesses
        connection.execute("PRAGMA synchronous=FULL")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("falkirk_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def mysql_engine(url: URL) -> Engine:
    """An engine of whose statements each sees what is committed by then, as elsewhere."""
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,
        pool_size=2,
        isolation_level="READ COMMITTED",
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        mysql.prepare(connection, BUSY_SECONDS)

    return engine


def check_written(address: str) -> None:
    """Refuses a database to which rows cannot be written exactly once, and as they are."""
    kind = parsed(address).get_backend_name()
    if kind not in WRITTEN:
        raise PermanentError(
            f"{redacted(address)} cannot be written to: tables of {kind} can be read, but only"
            " PostgreSQL, SQLite, MariaDB and MySQL are known to keep rows and their mark in one"
            " transaction. Write to one of these, or by fk.Function as you see fit"
        )


def driver_errors(engine: Engine) -> tuple[type[Exception], ...]:
    """What the driver itself raises where SQLAlchemy is not in between."""
    module: Any = engine.dialect.dbapi
    return (module.Error,) if module is not None else ()


def lock_names(connection: Connection) -> None:
    """Lets nobody else make tables of ours until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(4065102)"))
    elif mysql.is_mysql(connection):
        mysql.lock_names(connection, BUSY_SECONDS)


def unlock_names(connection: Connection) -> None:
    """Lets others make theirs; where no transaction ends the lock, this does."""
    if mysql.is_mysql(connection):
        mysql.unlock_names(connection)
