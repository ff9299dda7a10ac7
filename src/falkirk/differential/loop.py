"""Loops over collections: variables that begin as one collection and become another."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from falkirk.core.order import Order
from falkirk.core.policy import ephemeral
from falkirk.dataflow import loop as loops
from falkirk.dataflow.builder import Dataflow
from falkirk.dataflow.location import refusal, user_location
from falkirk.dataflow.node import Input
from falkirk.dataflow.operators.forward import Forward
from falkirk.dataflow.stream import Stream
from falkirk.differential.linear import Negate
from falkirk.differential.whole import Around

ROUNDS_MAX = 1_000
"""A loop that still changes after so many rounds is taken to be one that never ends."""


@dataclass(frozen=True)
class Rounds:
    """How long a loop goes around: so often, or until nothing changes."""

    exactly: int | None
    at_most: int


@dataclass(eq=False)
class Variable:
    """A stream inside a loop, and what it is in the next round once that is known."""

    name: str
    seed: Stream | None
    now: Stream
    location: str
    next: Stream | None = None


@dataclass(eq=False)
class Loop:
    """A loop while it is written."""

    flow: Dataflow
    place: loops.Loop
    rounds: Rounds
    variables: list[Variable] = field(default_factory=list)

    def variable(self, seed: Stream | None, name: str | None) -> Variable:
        """A variable that begins as ``seed``, or empty: x = seed + later(next − seed)."""
        none = ephemeral()
        stem = name or self.place.name
        begun: Stream | None = None
        inputs: tuple[Input, ...] = ()
        if seed is not None:
            entering = (loops.entered(seed, self.place),)
            begun = self.flow.place(
                Forward(), entering, self.place, stem=f"{stem}-seed", policy=none
            )
            inputs = (loops.entered(begun, self.place),)
        now = self.flow.place(Forward(), inputs, self.place, stem=stem, name=name, policy=none)
        made = Variable(now.name, begun, now, user_location())
        self.variables.append(made)
        return made

    def enter(self, stream: Stream) -> Stream:
        """``stream`` inside the loop."""
        inputs = (loops.entered(stream, self.place),)
        return self.flow.place(Forward(), inputs, self.place, stem="enter", policy=ephemeral())

    def close(self) -> None:
        """Leads every variable around."""
        none = ephemeral()
        for each in self.variables:
            if each.next is None:
                raise refusal(
                    f"the variable {each.name!r} was never set: set what it is in the next round",
                    each.location,
                )
            coming = [loops.entered(each.next, self.place)]
            if each.seed is not None:
                taken = self.flow.place(
                    Negate(),
                    (loops.entered(each.seed, self.place),),
                    self.place,
                    stem=f"{each.name}-unseed",
                    policy=none,
                )
                coming.append(loops.entered(taken, self.place))
            back = self.flow.place(
                Around(self.rounds.exactly, self.rounds.at_most),
                tuple(coming),
                self.place,
                stem=f"{each.name}-around",
                policy=none,
            )
            self.flow.extend(each.now, Input(back.name, "around"))

    def out(self, stream: Stream) -> Stream:
        """``stream`` outside the loop: the sum of all rounds."""
        leaving = (Input(stream.name, "leave", stream.output),)
        return self.flow.place(
            Forward(),
            leaving,
            self.place.outside,
            stem=f"{self.place.name}-out",
            policy=ephemeral(),
        )


@contextmanager
def open_loop(seed: Stream, name: str | None, rounds: Rounds) -> Iterator[Loop]:
    """A loop around the place of ``seed``; it is closed at the end of the block."""
    for number in (rounds.exactly, rounds.at_most):
        if number is not None and number < 1:
            raise refusal(f"a loop has at least one round, not {number}")
    flow = seed.flow
    outside = loops.meeting_place((seed,))
    with flow.body():
        place = loops.Loop(name or "loop", outside, Order.LEX, seed)
        loop = Loop(flow, place, rounds)
        try:
            yield loop
            loop.close()
        finally:
            place.closed = True
