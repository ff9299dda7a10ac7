"""Tables that do not change, and joins with them, batch by batch."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor
from falkirk.runtime.one_task import ONE_TASK_BYTES_MAX

SMALL_ROWS_MAX = 10_000
"""A table with no more rows rests on the driver."""


class Made(NamedTuple):
    """A table in a session: as it is joined by many tasks, and by one."""

    session: Any
    frame: Frame
    in_one_task: Frame


def made(session: Any, frame: Frame) -> Made:
    """Brings the rows of a small table to the driver.

    To broadcast it takes Spark a job at every time. One task needs no broadcast: a small table is
    one partition, and with the hint that task makes a hash table of it.
    """
    rows = frame.limit(SMALL_ROWS_MAX + 1).toArrow()
    if rows.num_rows > SMALL_ROWS_MAX:
        return Made(session, frame, frame)
    held = session.createDataFrame(rows.combine_chunks(), schema=frame.schema).coalesce(1)
    return Made(session, held.hint("broadcast"), held.hint("shuffle_hash"))


class Table:
    """A frame that is made once for each session: Spark lists files and finds columns once."""

    def __init__(
        self, make: Callable[[Any], Frame], keep: Callable[[Any, Frame], Made] = made
    ) -> None:
        """``make`` gets the session, ``keep`` gets that and what was made."""
        self.make, self.keep = make, keep
        self._lock = Lock()
        self._made: Made | None = None

    def frame(self, session: Any, one_task: bool) -> Frame:
        """The table in ``session``, to be joined with what is done in ``one_task`` or in many."""
        with self._lock:
            if self._made is None or self._made.session is not session:
                self._made = self.keep(session, self.make(session))
            found = self._made
        return found.in_one_task if one_task else found.frame


class Lookup(Processor):
    """Joins each batch with a table; like ``Transform`` it only extends a plan."""

    inline = True
    stateless = True

    def __init__(self, table: Table, on: Sequence[str], how: str) -> None:
        """Joins by the columns ``on``."""
        self.table, self.on, self.how = table, list(on), how

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Extends the plan."""
        one_task = batch.size is not None and batch.size <= ONE_TASK_BYTES_MAX

        def joined(frame: Frame) -> Frame:
            table = self.table.frame(frame.sparkSession, one_task)
            return frame.join(table, on=self.on, how=self.how)

        ctx.send(batch.transform(joined))
