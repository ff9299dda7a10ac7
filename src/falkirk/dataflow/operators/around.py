"""The way around a loop: it ends when nothing goes around any more."""

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor


class Around(Processor):
    """Sends what is not empty into the next round; the edge adds one to the counter.

    This is the only built-in operator that swallows an empty batch: a loop must end.
    """

    stateless = True

    def __init__(self, rounds: int | None = None) -> None:
        """At most ``rounds`` rounds, or as many as it takes."""
        self.rounds = rounds

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Sends ``batch`` around, if it has rows and there is a further round."""
        if self.rounds is not None and time[-1] + 1 >= self.rounds:
            return
        evaluated = batch.materialise()
        if not evaluated.is_empty():
            ctx.send(evaluated)
