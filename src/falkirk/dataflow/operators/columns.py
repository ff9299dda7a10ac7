"""Remembering columns: a side without rows at a time gets an empty batch with the right ones."""

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor

ROWS = 0
"""The port that is forwarded; on all others something says that there is such a time."""


class Columns(Processor):
    """Forwards its rows, and sends an empty batch at each time at which only the others have some.

    A source may end before another one does, and a processor need not send at every time. Whoever
    combines whole times then lacks the columns of a side. Here they are kept, as an empty batch at
    the first time that had one. All times up to t are over when t is notified, so what is known
    then does not depend on chance, and it survives a failure like any state.
    """

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Forwards rows, and notes that they came."""
        ctx.notify()
        if port == ROWS:
            known = ctx.state.visible("columns")
            columns = known[0] if known else batch.transform(without_rows).materialise()
            if not known:
                ctx.state.put(columns, label="columns")
            ctx.state.put(columns, label="came")
            ctx.send(batch)

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends an empty batch if nothing came and the columns are known."""
        came, own, known = (
            ctx.state.own("came"),
            ctx.state.own("columns"),
            ctx.state.visible("columns"),
        )
        ctx.state.clear()
        for columns in own[:1]:
            ctx.state.put(columns, label="columns")
        if not came and known:
            ctx.send(known[0])

    def consolidate(self, ctx: Context, batches: list[Batch]) -> Batch:
        """The columns are the same at all times."""
        return batches[0]


def without_rows(frame: Frame) -> Frame:
    """The columns of ``frame`` alone."""
    return frame.where("false")
