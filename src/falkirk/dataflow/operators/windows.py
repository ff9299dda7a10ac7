"""From sequence numbers to epochs: every so many messages are an epoch of their own (§3.2)."""

from typing import Any

from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor


class Windows(Processor):
    """Sends what comes into the open window, and closes it with every ``count``-th message.

    The number of a message alone decides, so a window has the same messages whenever the flow is
    stopped and started again, and nothing has to be kept.
    """

    inline = True
    stateless = True

    def __init__(self, count: int) -> None:
        """Windows of ``count`` messages."""
        self.count = count

    def on_message(self, ctx: Context, port: int, time: Any, batch: Batch) -> None:
        """Sends ``batch`` on."""
        ctx.send(batch)
        if time.number % self.count == 0:
            ctx.close()
