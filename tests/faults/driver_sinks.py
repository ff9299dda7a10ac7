"""Sinks that are judged from outside, and remember every attempt to write to them."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults.driver_strikes import Striker

from falkirk.connectors import ParquetSink

BUSY_SECONDS = 30

Rows = list[dict[str, Any]]


class SqliteSink:
    """Writes each time in a transaction of its own database.

    ``attempts`` has what was tried, committed before anything else, so that a time which was shown
    once and then with other rows is found even if the process died in between. A sink that is not
    ``careful`` does not look whether it has a time already.
    """

    exactly_once = True

    def __init__(self, path: Path, striker: Striker, careful: bool = True) -> None:
        """The tables are made when they are missing."""
        self.path, self.striker, self.careful = path, striker, careful
        with connected(path) as connection:
            for table in ("attempts", "rows"):
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {table} (sink TEXT, epoch INTEGER, content TEXT)"
                )

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Writes ``time``, unless it is there already."""
        self.striker.at("sink")
        row = (name, time[0], content_of(batch))
        with connected(self.path) as connection:
            connection.execute("INSERT INTO attempts VALUES (?, ?, ?)", row)
        with connected(self.path) as connection:
            there = "SELECT count(*) FROM rows WHERE sink = ? AND epoch = ?"
            (found,) = connection.execute(there, row[:2]).fetchone()
            if not found or not self.careful:
                connection.execute("INSERT INTO rows VALUES (?, ?, ?)", row)
            self.striker.at("sink inside")
        self.striker.at("sink done")


class AtLeastOnceSink(SqliteSink):
    """The same, but it does not claim that it recognises repetitions."""

    exactly_once = False


class StruckParquetSink:
    """The Parquet sink of the framework, with moments to strike."""

    exactly_once = True

    def __init__(self, path: Path, striker: Striker) -> None:
        """Writes below ``path``."""
        self.sink, self.striker = ParquetSink(path), striker

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Writes ``time``."""
        self.striker.at("sink")
        self.sink.write(name, time, Interrupted(batch, self.striker))
        self.striker.at("sink done")


class Interrupted:
    """A batch that is asked for in the middle of being written."""

    def __init__(self, batch: Any, striker: Striker) -> None:
        """A batch like ``batch``."""
        self.batch, self.striker = batch, striker

    def __getattr__(self, name: str) -> Any:
        """The batch's own; its rows are asked for when the hidden folder is there."""
        if name in ("arrow", "frame"):
            self.striker.at("sink inside")
        return getattr(self.batch, name)


def content_of(batch: Any) -> str:
    """The rows of a batch in canonical order."""
    return canonical(batch.arrow().to_pylist())


def canonical(rows: Rows) -> str:
    """Rows as text, whatever their order and that of their columns."""
    return json.dumps(sorted(rows, key=lambda row: json.dumps(row, sort_keys=True)), sort_keys=True)


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection with one transaction."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level="IMMEDIATE")
    try:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
    finally:
        connection.close()
