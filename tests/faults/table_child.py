"""Writes tables in processes that are killed, each at a later statement than the one before:

``python -m tests.faults.table_child URL ANOTHER``. It ends, and prints how many were killed, when
one of them came to its end. In ANOTHER database all goes well, before that.
"""

import os
import signal
import sys
from typing import Any

import pyarrow as pa
from sqlalchemy import Engine, event

from falkirk.connectors import TableSink, TableSinks
from falkirk.testing.contracts import Rows

TIMES = 3
KILLS_MAX = 1_000


def rows_of(time: int) -> pa.Table:
    """Rows of a time: of three keys, one is new and two were there before."""
    keys = [time, time + 1, time + 2]
    return pa.table({"k": keys, "v": [f"{key} at {time}" for key in keys]})


def changes_of(time: int) -> pa.Table:
    """The same as changes: what the time before has put goes, but for one copy of each."""
    come = [{**row, "change": 2} for row in rows_of(time).to_pylist()]
    gone = [{**row, "change": -1} for row in rows_of(time - 1).to_pylist()] if time else []
    return pa.Table.from_pylist(come + gone)


def write_all(url: str) -> None:
    """All times, in each mode, by a new run on the same store."""
    modes: dict[str, dict[str, Any]] = {
        "appended": {},
        "put": {"mode": "upsert", "key": "k"},
        "changed": {"mode": "changes"},
    }
    sinks = TableSinks({name: TableSink(url, name, **given) for name, given in modes.items()})
    sinks.attach("out", "the store")
    for time in range(TIMES):
        plain, changed = Rows(rows_of(time)), Rows(changes_of(time))
        batches = {"appended": plain, "put": plain, "changed": changed}
        sinks.write_together("out", (time,), batches)
    sinks.close()


def strike_at(number: int) -> None:
    """Has this process killed before a statement, or a commit, by its number."""
    left = iter(range(number - 1, -1, -1))

    def strike(*_: Any) -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", strike)
    event.listen(Engine, "commit", strike)


def main(url: str, another: str) -> None:
    """Forks processes until one of them comes to its end; what they need is imported by then."""
    write_all(another)
    for number in range(1, KILLS_MAX):
        child = os.fork()
        if child == 0:
            strike_at(number)
            write_all(url)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            print(number - 1)
            sys.exit(os.waitstatus_to_exitcode(status))
    raise AssertionError(f"after {KILLS_MAX} kills nothing has come to its end")


if __name__ == "__main__":
    main(*sys.argv[1:])
