"""A flow without Spark: reads a source as the runtime does, and answers what a function says."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pyarrow as pa

from falkirk.connectors.http import HttpRequests
from falkirk.dataflow.connecting import UNLIMITED

Rows = list[dict[str, Any]]


class Rested:
    """A batch that rests on the driver."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def arrow(self) -> pa.Table:
        return self.table


class Running:
    """Reads, works, writes, acknowledges: one epoch after the other, until it is stopped.

    While ``held`` is clear it reads nothing, while ``acknowledges`` is clear it acknowledges
    nothing. ``epochs`` are the rows that it read.
    """

    def __init__(self, server: HttpRequests, work: Callable[[Rows], Rows], when: Any) -> None:
        self.server, self.work, self.sink = server, work, server.answers(when)
        self.epochs: list[Rows] = []
        self.held, self.acknowledges, self._woken = Event(), Event(), Event()
        self.held.set(), self.acknowledges.set()
        self._thread = Thread(target=self._run)

    def _run(self) -> None:
        position = self.server.initial()
        while not self.server.finished(position):
            self._woken.wait()
            self._woken.clear()
            self.held.wait()
            while (end := self.server.latest(position, UNLIMITED)) != position:
                rows = self.server.read(None, position, end).to_pylist()
                self.epochs.append(rows)
                made = self.work(rows)
                if made:
                    self.sink.write("answers", (0,), Rested(pa.Table.from_pylist(made)))
                self.server.settled(end)
                self.acknowledges.wait()
                self.server.commit(end)
                position = end

    def __enter__(self) -> "Running":
        self.server.listen(self._woken.set)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.held.set(), self.acknowledges.set()
        self.server.stop()
        self._thread.join()
        self.server.close()


def doubled(rows: Rows) -> Rows:
    """The numbers of requests, twice as large; those below zero get no answer."""
    return [{"_request": row["_request"], "twice": 2 * row["n"]} for row in rows if row["n"] >= 0]


@contextmanager
def running(
    server: HttpRequests, work: Callable[[Rows], Rows] = doubled, when: str = "acknowledged"
) -> Iterator[Running]:
    """A flow that runs inside the ``with``."""
    with Running(server, work, when) as flow:
        yield flow
