"""Putting an operator behind streams, which may have to enter a loop to meet there."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from falkirk.core.policy import Policy, ephemeral, lazy
from falkirk.dataflow.loop import Loop, entered, meeting_place, nesting
from falkirk.dataflow.node import Input
from falkirk.dataflow.operators.columns import Columns
from falkirk.dataflow.operators.repeat import Repeat
from falkirk.dataflow.processor import Processor
from falkirk.dataflow.sequence import in_step, refuse_numbers

if TYPE_CHECKING:
    from falkirk.dataflow.stream import Stream


def operate(
    operator: Processor,
    streams: "tuple[Stream, ...]",
    stem: str,
    name: str | None,
    policy: Policy | None,
) -> "Stream":
    """An operator over messages as they come; who stands outside enters in the first round."""
    flow, loop, numbered = streams[0].flow, meeting_place(streams), in_step(streams)
    inputs = tuple(entered(stream, loop) for stream in streams)
    return flow.place(
        operator, inputs, loop, stem=stem, name=name, policy=policy, numbered=numbered
    )


def operate_together(
    operator: Processor,
    streams: "tuple[Stream, ...]",
    needed: Collection[int],
    stem: str,
    name: str | None,
    policy: Policy | None,
) -> "Stream":
    """An operator over whole times; who stands outside has its rows in every round.

    Rows of time t outside a loop belong to every time (t, c) inside. On the ports ``needed`` there
    is a batch at every time at which there is one on any port.
    """
    loop = meeting_place(streams)
    if in_step(streams):
        refuse_numbers(streams, stem)
    pace = next(stream for stream in streams if stream.loop is loop)
    with streams[0].flow.attempt():
        inside = [repeated(stream, loop, pace) for stream in streams]
        ready = list(inside)
        for port in needed:
            ready[port] = with_columns(inside[port], (*inside[:port], *inside[port + 1 :]))
        return operate(operator, tuple(ready), stem, name, policy)


def with_columns(stream: "Stream", others: "tuple[Stream, ...]") -> "Stream":
    """``stream``, with empty batches at times at which only the others have something."""
    return operate(Columns(), (stream, *others), "columns", None, lazy())


def repeated(stream: "Stream", loop: Loop | None, pace: "Stream") -> "Stream":
    """``stream`` in every round of ``loop`` in which ``pace`` has a batch."""
    levels = nesting(loop)[len(nesting(stream.loop)) :]
    # Further out, there is a round whenever something enters the next loop.
    paces = [*(level.seed for level in levels[1:]), pace]
    for level, beat in zip(levels, paces, strict=False):
        stream = _repeated_once(stream, level, beat)
    return stream


def _repeated_once(stream: "Stream", loop: Loop, pace: "Stream") -> "Stream":
    inputs = (entered(stream, loop), entered(pace, loop))
    made = stream.flow.place(Repeat(), inputs, loop, stem="repeat", policy=ephemeral())
    stream.flow.extend(made, Input(made.name, "around"))
    return made
