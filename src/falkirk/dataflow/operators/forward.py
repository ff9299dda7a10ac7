"""Forwarding: what comes in on any port goes out as it is."""

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor


class Forward(Processor):
    """The union of its inputs; also where a loop begins and ends."""

    inline = True
    stateless = True

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Sends ``batch`` on."""
        ctx.send(batch)
