"""Small processors where times change: bridges to and from sequence numbers, and loops."""

from dataclasses import dataclass

from falkirk.core.machine.events import Result
from falkirk.core.times import EdgeId
from falkirk.testing.logic import Context, Items, Quiet


@dataclass(frozen=True, slots=True)
class Forward:
    """The bridge from epochs to sequence numbers (§3.2): all of an epoch before any of the next."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Buffers the items of the epoch."""
        return Result(requests=(context.time,), state=tuple(sorted(context.own + items)))

    def on_notify(self, context: Context) -> Result:
        """Forwards the epoch, which is complete."""
        plain = tuple(sorted((label, value, 0) for label, value, _ in context.own))
        return Result(context.to_all(plain), state=())


@dataclass(frozen=True, slots=True)
class Window(Quiet):
    """The bridge from sequence numbers to epochs (§3.2): every ``size`` messages make an epoch.

    The label "end" closes the last one before its time.
    """

    size: int

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Sends the items at the open epoch, and closes it when it is full."""
        number = context.time.number
        epoch = (number - 1) // self.size
        outputs = [e.name for e in context.flow.graph.outputs(context.processor)]
        full = number % self.size == 0 or any(label == "end" for label, _, _ in items)
        return Result(
            tuple((e, (epoch,), items) for e in outputs),
            closes=tuple((e, epoch) for e in outputs) if full else (),
        )


@dataclass(frozen=True, slots=True)
class Account(Quiet):
    """A running total in the order of arrival: for sequence numbers."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Sends the new total."""
        total = sum(value for _, value, _ in context.visible + items)
        return Result(context.to_all(((f"account@{context.processor}", total, 0),)), state=items)


@dataclass(frozen=True, slots=True)
class Join(Quiet):
    """Joins what is fast with the newest version that has come on the edge ``versions``.

    The newest version is the one with the largest value: versions only grow.
    """

    versions: EdgeId

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Keeps a version, or answers with the newest one so far."""
        if edge == self.versions:
            return Result(state=tuple(sorted(context.own + items)))
        newest = max((value for _, value, _ in context.visible), default=-1)
        return Result(context.to_all(tuple((label, newest, tag) for label, _, tag in items)))


@dataclass(frozen=True, slots=True)
class Turn(Quiet):
    """The end of a loop's body: sends an item around until one digit of its value is nought.

    ``refill`` is what an inner loop finds again when an outer one goes around.
    """

    around: EdgeId
    unit: int = 1
    refill: int = 0

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Sends what is left around, and what is done out."""
        going = tuple(
            (a, b - self.unit + self.refill, c) for a, b, c in items if b // self.unit % 10
        )
        done = tuple(item for item in items if not item[1] // self.unit % 10)
        sends = [
            (e, time, going if e == self.around else done)
            for e, time, _ in context.to_all(())
            if (going if e == self.around else done)
        ]
        return Result(tuple(sends))


@dataclass(frozen=True, slots=True)
class Scatter(Quiet):
    """Sends every item at counters that follow from its value."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Sends each item on its own, into the future."""
        epoch, *_ = context.time
        outputs = context.flow.graph.outputs(context.processor)
        return Result(
            tuple(
                (e.name, (epoch, item[1] % 2, item[1] // 2 % 2), (item,))
                for e in outputs
                for item in items
            )
        )


@dataclass(frozen=True, slots=True)
class Meet:
    """A lattice processor: keeps what comes, and wherever times meet says what there was by then.

    It asks for no notification itself: that it hears of every join is the machine's part.
    """

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Keeps the items of the time."""
        return Result(state=tuple(sorted(context.own + items)))

    def on_notify(self, context: Context) -> Result:
        """Sends the sum of all values up to this time."""
        total = sum(value + 1 for _, value, _ in context.visible)
        where = ".".join(map(str, context.time[1:]))
        return Result(context.to_all(((f"{where}@{context.processor}", total, 0),)))


@dataclass(frozen=True, slots=True)
class Recall:
    """A loop's body that remembers: sends items around, and out what it has seen so far.

    Inside a loop that is what came at earlier times in product order, whatever was folded.
    """

    around: EdgeId

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Keeps the items of the time."""
        return Result(requests=(context.time,), state=tuple(sorted(context.own + items)))

    def on_notify(self, context: Context) -> Result:
        """Sends the items around until they are nought, and the sum of all values out."""
        going = tuple((a, b - 1, c) for a, b, c in context.own if b % 10)
        total = sum(value for _, value, _ in context.visible)
        seen = ((f"{context.time[1]}@{context.processor}", total, 0),)
        batches = [(e, t, going if e == self.around else seen) for e, t, _ in context.to_all(())]
        return Result(tuple(send for send in batches if send[2]))
