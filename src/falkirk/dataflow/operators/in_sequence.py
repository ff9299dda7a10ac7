"""From epochs to sequence numbers: all of an epoch before any of the next (§3.2)."""

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor


class InSequence(Processor):
    """Keeps the batches of an epoch until it is complete, and forwards them as they came.

    The edges behind it count, so that every batch is a message with a number of its own.
    """

    stateless = True

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps ``batch`` until its epoch is complete."""
        ctx.state.put(batch)
        ctx.notify()

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Forwards the epoch."""
        batches = ctx.state.own()
        ctx.state.clear()
        for batch in batches:
            ctx.send(batch)
