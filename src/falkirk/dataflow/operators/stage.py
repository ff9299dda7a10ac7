"""Staging: an output keeps what it gets until that can be shown to the outside (trap 10)."""

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor


class Stage(Processor):
    """Keeps the batches of each time; once they are durable and final, the sink gets them."""

    inline = True

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps ``batch`` for its time."""
        ctx.state.put(batch, label=part_label(port))


def part_label(port: int) -> str:
    """The label of what came in at ``port``, by which the parts of an output are told apart.

    >>> part_label(0), part_label(2)
    ('', '2')
    """
    return str(port) if port else ""


STAGE = Stage()
"""Staging has no parameters, so all outputs share one."""
