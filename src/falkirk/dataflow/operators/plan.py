"""Plans: a function from frames to a frame, batch by batch or over several inputs of one time."""

from collections.abc import Callable, Sequence
from functools import reduce

from falkirk.core.errors import ExecutionError
from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor


class Transform(Processor):
    """Applies a function to each batch by itself; an empty batch is transformed and sent too.

    So every time that comes in goes out, and whoever needs the columns of an empty side has them.
    """

    inline = True
    stateless = True

    def __init__(self, function: Callable[[Frame], Frame]) -> None:
        """``function`` makes a frame of a frame."""
        self.function = function

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Extends the plan."""
        ctx.send(batch.transform(self.function))


class Whole(Processor):
    """Waits until a time is complete and applies a function to one frame of all its rows.

    Like ``Transform`` it only extends a plan; what has come waits in the state of its time, and is
    dropped when the time is done.
    """

    inline = True
    stateless = True

    def __init__(self, function: Callable[[Frame], Frame]) -> None:
        """``function`` makes a frame of a frame."""
        self.function = function

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps ``batch`` until its time is complete."""
        ctx.state.put(batch)
        ctx.notify()

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Extends the plan of all that came."""
        batches = ctx.state.own()
        ctx.state.clear()
        ctx.send(gathered(ctx, batches).transform(self.function))


class Together(Processor):
    """Waits until a time is complete and applies a function to one frame for each port.

    What has come in waits in the state of its time, under the number of its port, and is dropped
    when the time is done: nothing is kept between times.
    """

    inline = True
    stateless = True

    def __init__(self, function: Callable[..., Frame], ports: int) -> None:
        """``function`` takes as many frames as there are ``ports``."""
        self.function, self.ports = function, ports

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps ``batch`` until its time is complete."""
        ctx.state.put(batch, label=str(port))
        ctx.notify()

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends what the function makes of all that came."""
        sides = [ctx.state.own(str(port)) for port in range(self.ports)]
        ctx.state.clear()
        frame = self.combine([gathered(ctx, side).frame if side else None for side in sides], time)
        if frame is not None:
            ctx.send(ctx.batch(frame))

    def combine(self, frames: Sequence[Frame | None], time: Time) -> Frame | None:
        """The result; None stands for a port on which nothing came, and for nothing to send."""
        if any(frame is None for frame in frames):
            raise missing(frames, time)
        return self.function(*frames)


def gathered(ctx: Context, batches: Sequence[Batch]) -> Batch:
    """All rows of several batches, which are used for nothing else; plans remain plans.

    What rests somewhere, or does not have the same columns, is left to the context: it unites
    tables on the driver, and knows what to say.
    """
    if len(batches) == 1:
        return batches[0]
    if any(batch.rows is None for batch in batches):
        frames = [batch.frame for batch in batches]
        if all(dict(frame.dtypes) == dict(frames[0].dtypes) for frame in frames):
            return ctx.batch(reduce(lambda one, other: one.unionByName(other), frames))
        batches = [batch.materialise() for batch in batches]
    return ctx.union(batches)


def missing(frames: Sequence[Frame | None], time: Time) -> ExecutionError:
    """The error for a side without a batch, whose columns nobody can know."""
    ports = [str(port) for port, frame in enumerate(frames) if frame is None]
    return ExecutionError(
        f"nothing has come on port {' and '.join(ports)} up to {time}, so its columns are unknown:"
        " whoever sends there must begin with a batch, an empty one if need be"
    )
