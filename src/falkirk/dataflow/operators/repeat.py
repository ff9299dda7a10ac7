"""Repeating: a stream from outside a loop, in every round of it."""

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor

OUTSIDE, PACE, ROUND = range(3)
"""The ports: what enters, what says that there is a round, what comes from the round before."""


class Repeat(Processor):
    """Gives the rows of each time outside to every round in which the pace has a batch.

    The rows travel around the loop by themselves, so nothing is kept between times, and they stop
    with the loop: in a round without pace they are dropped.
    """

    stateless = True

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps ``batch`` until the round is complete."""
        ctx.state.put(batch, label="pace" if port == PACE else "rows")
        ctx.notify()

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends the rows to this round and around to the next."""
        rows, pace = ctx.state.own("rows"), ctx.state.own("pace")
        ctx.state.clear()
        if rows and pace:
            # Evaluated in the first round, and not once in each.
            ctx.send(ctx.union(rows).materialise())
