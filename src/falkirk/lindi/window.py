"""Windows over epochs: the rows of the last so many, again and again."""

from falkirk.core.errors import ExecutionError
from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor

EPOCH = "_epoch"
"""The column that says, in state alone, at which epoch a row came."""


class Window(Processor):
    """Sends, after every ``every`` epochs, the rows of the last ``epochs`` epochs.

    Rows are kept between times, so this is an ordinary stateful processor: each epoch's rows are
    state of that epoch. A window is sent at the time of its last epoch, if anything came since the
    one before.
    """

    def __init__(self, epochs: int, every: int) -> None:
        """Windows of ``epochs`` epochs, ``every`` so many."""
        self.epochs, self.every = epochs, every

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps the rows, and waits for the end of the window."""
        epoch = int(time[0])
        ctx.state.put(batch.transform(lambda frame: stamped(frame, epoch)))
        ctx.notify((last_epoch(epoch, self.every),))

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends the window that ends here."""
        before = int(time[0]) - self.epochs
        kept = [batch for when, batch in ctx.state.trace() if when[0] > before]
        ctx.send(ctx.union(kept).transform(lambda frame: after(frame, before).drop(EPOCH)))

    def consolidate(self, ctx: Context, batches: list[Batch]) -> Batch:
        """Unites epochs, without those that no window to come can have.

        All windows to come end after the newest of these epochs.
        """
        united = ctx.union(batches).materialise()
        newest = newest_epoch(united)
        if newest is None:
            return united
        before = newest + 1 - self.epochs
        return united.transform(lambda frame: after(frame, before))


def last_epoch(epoch: int, every: int) -> int:
    """The epoch at which the first window ends that is not over before ``epoch``.

    >>> [last_epoch(epoch, 3) for epoch in range(5)]
    [2, 2, 2, 5, 5]
    """
    return (epoch // every + 1) * every - 1


def stamped(frame: Frame, epoch: int) -> Frame:
    """The rows with the epoch at which they came."""
    if EPOCH in (name.lower() for name in frame.columns):
        raise ExecutionError(
            f"the rows have a column {EPOCH!r}, which windows need for themselves: give it another"
            " name before"
        )
    return frame.selectExpr("*", f"CAST({epoch} AS BIGINT) AS {EPOCH}")


def after(frame: Frame, epoch: int) -> Frame:
    """The rows that came after ``epoch``."""
    return frame.where(f"{EPOCH} > {epoch}")


def newest_epoch(batch: Batch) -> int | None:
    """The newest epoch that has a row, if there are rows."""
    if batch.small:
        column = batch.arrow().column(EPOCH)
        return max(column.unique().to_pylist(), default=None)
    found: int | None = batch.frame.agg({EPOCH: "max"}).first()[0]
    return found
