"""Loops: where a stream stands, how it gets further in, and how a loop is closed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from falkirk.core.order import Order
from falkirk.core.policy import ephemeral
from falkirk.dataflow.location import refusal, user_location
from falkirk.dataflow.node import Input
from falkirk.dataflow.operators.around import Around
from falkirk.dataflow.operators.forward import Forward

if TYPE_CHECKING:
    from falkirk.dataflow.stream import Stream


@dataclass(eq=False, slots=True)
class Loop:
    """A loop while it is written; its streams are of no use once it is closed."""

    name: str
    outside: "Loop | None"
    order: Order
    seed: "Stream"
    closed: bool = False


def nesting(loop: Loop | None) -> tuple[Loop, ...]:
    """The loops around a place, outermost first."""
    return () if loop is None else (*nesting(loop.outside), loop)


def depth(loop: Loop | None) -> int:
    """How many coordinates times have there."""
    return 1 + len(nesting(loop))


def meeting_place(streams: "tuple[Stream, ...]") -> Loop | None:
    """The innermost loop of all the streams: the others can enter it, or they cannot meet."""
    first = streams[0]
    for stream in streams:
        if stream.flow is not first.flow:
            raise refusal(
                f"{stream.name!r} belongs to the flow {stream.flow.name!r} and {first.name!r} to"
                f" {first.flow.name!r}: two flows can share a sink and a source, but no stream"
            )
        if stream.loop is not None and stream.loop.closed:
            raise refusal(
                f"{stream.name!r} is a stream inside the loop {stream.loop.name!r}, which is"
                " closed: return it from the body to use it outside"
            )
    innermost = max((stream.loop for stream in streams), key=depth)
    around = (None, *nesting(innermost))
    for stream in streams:
        if stream.loop not in around:
            raise refusal(
                f"{stream.name!r} is in the loop {stream.loop.name if stream.loop else ''!r}, which"
                f" is not around {innermost.name if innermost else ''!r}: they cannot meet"
            )
    return innermost


def entered(stream: "Stream", loop: Loop | None) -> Input:
    """What a port inside ``loop`` reads to get ``stream``: it arrives in the first round."""
    levels = nesting(loop)[len(nesting(stream.loop)) :]
    for level in levels[:-1]:
        # An edge crosses one loop; further ones need a place on the way.
        stream = stream.flow.place(
            Forward(), (entered(stream, level),), level, stem="enter", policy=ephemeral()
        )
    return Input(stream.name, "enter" if levels else "same", stream.output)


def iterate(
    seed: "Stream",
    body: "Callable[[Stream], object]",
    name: str | None,
    order: str,
    rounds: int | None,
) -> "Stream":
    """Writes a loop: a place where it begins, the body, the way around and the way out."""
    flow, location = seed.flow, user_location()
    meeting_place((seed,))
    try:
        chosen = Order(order)
    except ValueError:
        raise refusal(f"a loop has the order 'lex' or 'product', not {order!r}") from None
    if rounds is not None and rounds < 1:
        raise refusal(f"a loop has at least one round, not {rounds}")
    with flow.body():
        loop = Loop(name or "loop", seed.loop, chosen, seed)
        try:
            return _written(loop, body, name, rounds, location)
        finally:
            loop.closed = True


def _written(
    loop: Loop,
    body: "Callable[[Stream], object]",
    name: str | None,
    rounds: int | None,
    location: str,
) -> "Stream":
    flow, none = loop.seed.flow, ephemeral()
    entering = (entered(loop.seed, loop),)
    head = flow.place(Forward(), entering, loop, stem="loop", name=name, policy=none)
    loop.name = head.name
    around, out = _results(body(head), loop, location)
    back = flow.place(
        Around(rounds), (entered(around, loop),), loop, stem=f"{loop.name}-around", policy=none
    )
    flow.extend(head, Input(back.name, "around"))
    leaving = (Input(out.name, "leave", out.output),)
    return flow.place(Forward(), leaving, loop.outside, stem=f"{loop.name}-out", policy=none)


def _results(given: object, loop: Loop, location: str) -> "tuple[Stream, Stream]":
    """What the body returned: what goes around and what comes out; one stream can do both."""
    from falkirk.dataflow.stream import Stream

    pair = given if isinstance(given, tuple) else (given, given)
    if len(pair) != 2 or not all(isinstance(each, Stream) for each in pair):
        raise refusal(
            f"the body of the loop {loop.name!r} returns a stream, or a pair of streams: what goes"
            f" around and what comes out; not {given!r}",
            location,
        )
    for stream in pair:
        if stream.loop is not loop:
            raise refusal(
                f"the body of the loop {loop.name!r} returned {stream.name!r}, which is not a"
                " stream of that loop: derive it from what the body is given",
                location,
            )
    return pair
