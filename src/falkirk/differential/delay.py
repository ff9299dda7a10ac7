"""Rows that come into a loop later than in its first round."""

import pyarrow.compute as pc  # type: ignore[import-untyped]

from falkirk.core.errors import ExecutionError
from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor
from falkirk.differential.weights import check_columns, quoted


class Delay(Processor):
    """Sends each row in the round that one of its columns names, or at once if that is past.

    The column is dropped. Where the fixed point does not depend on when a row comes in, its work
    may: in a search for the least label, say, the least ones should go first.
    """

    def __init__(self, column: str) -> None:
        """``column`` holds whole numbers from 0."""
        self.column = column

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Sends the rows of each round at the time of that round."""
        if batch.is_empty():
            return
        if batch.small:
            self.by_arrow(ctx, time, batch)
        else:
            self.by_spark(ctx, time, batch)

    def by_arrow(self, ctx: Context, time: Time, batch: Batch) -> None:
        """The rows are on the driver."""
        table = batch.arrow()
        check_columns([self.column], table.schema.names)
        rounds = table[self.column]
        for number in sorted(pc.unique(rounds).to_pylist(), key=repr):
            self.check(number)
            rows = table.filter(pc.equal(rounds, number)).drop_columns([self.column])
            ctx.send(ctx.batch(rows), time=later(time, number))

    def by_spark(self, ctx: Context, time: Time, batch: Batch) -> None:
        """The rows are on executors; one job finds out which rounds there are."""
        frame, column = batch.frame, quoted(self.column)
        check_columns([self.column], frame.columns)
        rounds = ctx.batch(frame.select(column).distinct(), size=0).arrow()[self.column]
        for number in sorted(rounds.to_pylist(), key=repr):
            self.check(number)
            rows = frame.where(f"{column} = {number}").drop(self.column)
            ctx.send(ctx.batch(rows), time=later(time, number))

    def check(self, number: object) -> None:
        """Refuses what is no number of a round."""
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ExecutionError(
                f"{self.column!r} says in which round a row comes: a whole number from 0, not"
                f" {number!r}"
            )


def later(time: Time, number: int) -> Time:
    """The time of a round of the innermost loop, if it is not past.

    >>> later((3, 0), 64), later((3, 70), 64)
    ((3, 64), (3, 70))
    """
    return (*time[:-1], max(time[-1], number))
