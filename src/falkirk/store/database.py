"""Connections and transactions: SQLite in WAL mode with full sync, or PostgreSQL.

Whatever the database refuses becomes a StoreError, and a transaction that fails leaves no trace.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from falkirk.core.errors import StoreError, StoreOutageError
from falkirk.store import tables

BUSY_SECONDS = 15
DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
"""What SQLite's errors are called if its file is not what it was."""


class Database:
    """The metadata of one store. Safe to use from several threads."""

    def __init__(self, engine: Engine, place: str, make: bool = True) -> None:
        """Opens the tables, or makes them in an empty database; ``place`` is for messages.

        Without ``make`` an empty one is refused, and nothing is written.
        """
        self.engine, self.place = engine, place
        self.before_commit: Callable[[], None] = lambda: None
        self._writer = engine.execution_options(falkirk_writes=True)
        try:
            if make:
                with self.writing() as connection:
                    self._prepare(connection)
            else:
                with self.reading() as connection:
                    self._known(connection)
        except BaseException:
            engine.dispose()
            raise

    def _known(self, connection: Connection) -> None:
        """Refuses a database that holds no store; writes nothing."""
        if tables.facts.name not in inspect(connection).get_table_names():
            raise StoreError(
                f"there is no store at {self.place}: run a flow on it first, or name another place"
            )
        self._format(connection)

    def _format(self, connection: Connection) -> str:
        """The format of the store, if it is one that can be read."""
        facts = tables.facts
        version = connection.scalar(select(facts.c.value).where(facts.c.name == "format"))
        if version not in tables.READABLE:
            raise StoreError(
                f"the store at {self.place} has format {version}, and this falkirk reads"
                f" formats {' and '.join(tables.READABLE)}: use the falkirk that wrote it, or a new"
                " place"
            )
        return str(version)

    def _prepare(self, connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            # Two processes may find the same empty database.
            connection.execute(text("SELECT pg_advisory_xact_lock(4065101)"))
        present = set(inspect(connection).get_table_names())
        if tables.facts.name in present:
            if self._format(connection) != str(tables.FORMAT):
                known = update(tables.facts).where(tables.facts.c.name == "format")
                connection.execute(known.values(value=str(tables.FORMAT)))
            return
        if present & set(tables.metadata.tables):
            raise StoreError(
                f"the database at {self.place} has tables of somebody else: choose another place"
            )
        tables.metadata.create_all(connection)
        connection.execute(insert(tables.facts), {"name": "format", "value": str(tables.FORMAT)})
        nobody = {
            "holder": "",
            "host": "",
            "pid": 0,
            "started": "",
            "acquired": 0.0,
            "expires": 0.0,
        }
        connection.execute(insert(tables.lease), {"id": 1, **nobody})

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent look at the store."""
        with self.told("read"), self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: it is durable when this ends, or it never was."""
        with self.told("written"), self._writer.begin() as connection:
            if connection.dialect.name == "postgresql":
                # Who is stopped inside a transaction must not keep the others waiting for ever.
                connection.exec_driver_sql(
                    f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s';"
                    f"SET LOCAL idle_in_transaction_session_timeout = '{4 * BUSY_SECONDS}s'"
                )
            yield connection
            self.before_commit()

    @contextmanager
    def told(self, done: str) -> Iterator[None]:
        """Turns what the database or the disk complains about into a StoreError.

        It is an outage, which may pass, unless a file is damaged.
        """
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            cause = getattr(error, "orig", None) or error
            if getattr(cause, "sqlite_errorname", "").startswith(DAMAGE):
                raise StoreError(
                    f"the metadata of the store at {self.place} are damaged, and trying again will"
                    f" not help: {cause}; put the store back from a backup, or choose a new place"
                ) from error
            raise StoreOutageError(
                f"the store at {self.place} could not be {done}, and nothing of it was: {cause};"
                " see that the database is up, not locked, and that the disk has room"
            ) from error

    def now(self, connection: Connection) -> float:
        """Seconds since 1970, by the clock that all who share this database see."""
        if connection.dialect.name == "postgresql":
            found: Any = connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())"))
            return float(found)
        return time.time()

    def close(self) -> None:
        """Closes all connections."""
        self.engine.dispose()


def sqlite_engine(path: Path, durable: bool = True) -> Engine:
    """An engine for the SQLite file at ``path``; without ``durable`` nothing is synced."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, not where it guesses
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'OFF'}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that will write takes the lock first: nobody else's commit can come between.
        writes = connection.get_execution_options().get("falkirk_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def postgres_engine(url: URL) -> Engine:
    """An engine for a PostgreSQL database."""
    return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
