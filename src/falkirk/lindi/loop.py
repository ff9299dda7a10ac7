"""Loops that go on while a condition holds, row by row."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import ExecutionError
from falkirk.core.order import Order
from falkirk.core.policy import ephemeral
from falkirk.core.times import Time
from falkirk.dataflow import loop as loops
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.context import Context
from falkirk.dataflow.location import refusal, user_location
from falkirk.dataflow.node import Input
from falkirk.dataflow.operators.forward import Forward
from falkirk.dataflow.processor import Processor
from falkirk.dataflow.stream import Stream
from falkirk.lindi.expressions import Expression, column

if TYPE_CHECKING:
    from falkirk.lindi.rows import Rows

ROUNDS_MAX = 1_000
"""A row that goes on for so many rounds is taken for one that would never end."""

GOES_ON, DONE = range(2)
"""The output ports of the place where the condition is asked."""

MARK = "_goes_on"


class While(Processor):
    """Asks the condition of each row: what goes on is sent to the body, the others leave.

    The condition is worked out by the job that evaluates the round, so a round costs one job while
    it is small, and the body never runs without rows.
    """

    outputs = 2
    stateless = True

    def __init__(self, condition: Expression, rounds_max: int) -> None:
        """At most ``rounds_max`` rounds."""
        self.condition, self.rounds_max = condition, rounds_max

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Parts the rows."""
        marked = batch.transform(self.marked).materialise()
        going, done = parted(ctx, marked)
        rounds = int(time[-1])
        if not going.is_empty():
            if rounds >= self.rounds_max:
                raise ExecutionError(
                    f"{going.rows} rows go on after {rounds} rounds: does the loop end? If it needs"
                    " more rounds, rounds_max= allows for them"
                )
            ctx.send(going, port=GOES_ON)
        if rounds == 0 or going.rows != marked.rows:
            ctx.send(done, port=DONE)

    def marked(self, frame: Frame) -> Frame:
        """The rows with whether they go on; what is neither true nor false does not."""
        from pyspark.sql import functions as F

        goes_on = F.coalesce(column(frame, self.condition), F.lit(False))
        return frame.select("*", goes_on.alias(MARK))


def parted(ctx: Context, marked: Batch) -> tuple[Batch, Batch]:
    """The rows that go on and those that do not: on the driver, if they are there."""
    if not marked.small:
        going = marked.transform(lambda frame: frame.where(MARK).drop(MARK)).materialise()
        return going, marked.transform(lambda frame: frame.where(f"NOT {MARK}").drop(MARK))
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    table = marked.arrow()
    mark, rows = table.column(MARK), table.drop_columns([MARK])
    return ctx.batch(rows.filter(mark)), ctx.batch(rows.filter(pc.invert(mark)))


def iterate_while(
    seed: Stream,
    condition: Expression,
    body: "Callable[[Rows], Any]",
    rounds_max: int,
    name: str | None,
) -> Stream:
    """Writes the loop: where it begins, the condition, the body and the way out."""
    from falkirk.lindi.rows import Rows

    flow, none, location = seed.flow, ephemeral(), user_location()
    outside = loops.meeting_place((seed,))
    with flow.body():
        loop = loops.Loop(name or "while", outside, Order.LEX, seed)
        try:
            entering = (loops.entered(seed, loop),)
            head = flow.place(Forward(), entering, loop, stem="while", name=name, policy=none)
            loop.name = head.name
            asked = flow.place(
                While(condition, rounds_max),
                (loops.entered(head, loop),),
                loop,
                stem=f"{head.name}-condition",
                policy=none,
            )
            result = body(Rows(asked.port(GOES_ON)))
            if not isinstance(result, Rows) or result.stream.loop is not loop:
                raise refusal(
                    f"the body of the loop {loop.name!r} returns what it has made of the rows that"
                    f" it is given, not {result!r}",
                    location,
                )
            flow.extend(head, Input(result.stream.name, "around", result.stream.output))
            leaving = (Input(asked.name, "leave", DONE),)
            return flow.place(Forward(), leaving, outside, stem=f"{head.name}-out", policy=none)
        finally:
            loop.closed = True
