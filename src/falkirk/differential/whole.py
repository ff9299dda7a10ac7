"""Operators that wait for a time to be complete and add up what came at it."""

from falkirk.core.errors import ExecutionError
from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor
from falkirk.differential.adding import add_up


class Consolidate(Processor):
    """Sends each time's change as one batch, without what adds up to nothing."""

    stateless = True

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps what came until the time is complete."""
        if not batch.is_empty():
            ctx.state.put(batch)
            ctx.notify()

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends the sum, if there is something left."""
        own = ctx.state.own()
        ctx.state.clear()
        change = add_up(ctx, own)
        if not change.is_empty():
            self.forward(ctx, time, change)

    def forward(self, ctx: Context, time: Time, change: Batch) -> None:
        """Sends it on."""
        ctx.send(change)


class Around(Consolidate):
    """The way around a loop, which ends when nothing changes any more.

    With ``rounds`` it ends after so many in any case. Without, a loop that goes on for
    ``rounds_max`` rounds is taken to be one that never ends.
    """

    def __init__(self, rounds: int | None, rounds_max: int) -> None:
        """At most ``rounds``, or until nothing changes."""
        self.rounds, self.rounds_max = rounds, rounds_max

    def forward(self, ctx: Context, time: Time, change: Batch) -> None:
        """Sends what changes into the next round."""
        following = time[-1] + 1
        if self.rounds is not None and following >= self.rounds:
            return
        if following >= self.rounds_max:
            raise ExecutionError(
                f"the loop still changes after {following} rounds ({change.rows} rows in the last):"
                " does it converge? rounds= bounds how many there are, rounds_max= allows for more"
            )
        ctx.send(change)
