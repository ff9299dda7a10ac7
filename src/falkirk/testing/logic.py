"""Small processors for simulated flows: what an event does, as a function of what it may see.

A batch is a sorted tuple of items (label, value, tag). All but :class:`Tag` are deterministic and
do not care about the order of messages at one time, so that runs can be compared.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from falkirk.core.machine.events import Result
from falkirk.core.machine.flow import Flow
from falkirk.core.times import EdgeId, ProcessorId

Item = tuple[str, int, int]
Items = tuple[Item, ...]


def flat(batches: Iterable[Any]) -> Items:
    """The items of a state: compacted ones come as a tuple of items.

    >>> flat([("a", 1, 0), (("b", 2, 0), ("c", 3, 0))])
    (('a', 1, 0), ('b', 2, 0), ('c', 3, 0))
    """
    found: list[Item] = []
    for batch in batches:
        found += [batch] if isinstance(batch[0], str) else batch
    return tuple(found)


@dataclass(slots=True)
class Context:
    """What a processor sees when an event is delivered to it."""

    flow: Flow
    processor: ProcessorId
    time: Any
    own: Items
    visible: Items
    random: Random

    def to_all(self, items: Items, later: int = 0) -> tuple[tuple[EdgeId, Any, Items], ...]:
        """``items`` on every output edge, ``later`` epochs later."""
        return tuple(
            (edge.name, self.time_on(edge.name, later), items)
            for edge in self.flow.graph.outputs(self.processor)
        )

    def time_on(self, edge: EdgeId, later: int = 0) -> Any:
        """The time at which a message on ``edge`` is sent; None towards sequence numbers."""
        summary = self.flow.edge_summaries.get(edge)
        if summary is None:
            return None
        time = summary.apply(self.time)
        return (time[0] + later, *time[1:])


class Logic(Protocol):
    """A simulated processor."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """A message was delivered."""

    def on_notify(self, context: Context) -> Result:
        """The time is complete."""


class Quiet:
    """A processor that asks for no notifications."""

    __slots__ = ()

    def on_notify(self, context: Context) -> Result:
        """Nothing."""
        return Result()


@dataclass(frozen=True, slots=True)
class Map(Quiet):
    """Adds to every value: stateless."""

    step: int = 1

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Sends the changed items on."""
        return Result(context.to_all(tuple((a, b + self.step, c) for a, b, c in items)))


@dataclass(frozen=True, slots=True)
class Drop(Quiet):
    """Keeps the items with even values: stateless, and often sends nothing."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Sends what is left, if anything is."""
        left = tuple(item for item in items if item[1] % 2 == 0)
        return Result(context.to_all(left)) if left else Result()


@dataclass(frozen=True, slots=True)
class Tag(Quiet):
    """Marks items with a random tag: not deterministic, so re-execution can be told."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Sends the items with a fresh tag: of so many bits that no two are ever equal."""
        tag = context.random.getrandbits(62) + 1
        return Result(
            context.to_all(tuple((f"{a}#{context.processor}", b, tag) for a, b, _ in items))
        )


@dataclass(frozen=True, slots=True)
class Sum:
    """Figure 3's Sum: adds up a time, sends the sum when notified, and forgets the time."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Collects the items of the time."""
        return Result(requests=(context.time,), state=tuple(sorted(context.own + items)))

    def on_notify(self, context: Context) -> Result:
        """Sends the sum."""
        total = (f"sum@{context.processor}", sum(value for _, value, _ in context.own), 0)
        return Result(context.to_all((total,)), state=())


@dataclass(frozen=True, slots=True)
class Total:
    """A running total over all times so far: state that depends on history."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Adds to the state of the time."""
        return Result(requests=(context.time,), state=tuple(sorted(context.own + items)))

    def on_notify(self, context: Context) -> Result:
        """Sends the total of all times up to this one."""
        total = sum(value for _, value, _ in context.visible)
        return Result(context.to_all(((f"total@{context.processor}", total, 0),)))


@dataclass(frozen=True, slots=True)
class Buffer(Quiet):
    """Figure 3's Buffer: records all messages, and passes them on."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Records and forwards."""
        return Result(context.to_all(items), state=tuple(sorted(context.own + items)))


@dataclass(frozen=True, slots=True)
class Delay(Quiet):
    """Sends into the future: the items now, and again an epoch later."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Sends twice."""
        echo = tuple((label + "'", value, tag) for label, value, tag in items)
        return Result(context.to_all(items) + context.to_all(echo, later=1))


@dataclass(frozen=True, slots=True)
class Later:
    """Asks to be notified an epoch later: a request that outlives the event that made it."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Keeps the items and asks for the next epoch."""
        following = (context.time[0] + 1, *context.time[1:])
        return Result(requests=(following,), state=tuple(sorted(context.own + items)))

    def on_notify(self, context: Context) -> Result:
        """Sends how much there was by then."""
        total = sum(value for _, value, _ in context.visible)
        return Result(context.to_all(((f"later@{context.processor}", total, 0),)))


@dataclass(frozen=True, slots=True)
class Recite:
    """Says at the end of each time all that it has ever heard: what it holds can be compared."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Keeps the items."""
        return Result(requests=(context.time,), state=tuple(sorted(context.own + items)))

    def on_notify(self, context: Context) -> Result:
        """Sends the items of all times up to this one."""
        return Result(context.to_all(tuple(sorted(context.visible))))


@dataclass(frozen=True, slots=True)
class Maybe:
    """Figure 5's p and q: when notified it may send a message, or not. The message is empty."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Asks for a notification."""
        return Result(requests=(context.time,))

    def on_notify(self, context: Context) -> Result:
        """Tosses a coin."""
        return Result(context.to_all(())) if context.random.random() < 0.5 else Result()


@dataclass(frozen=True, slots=True)
class Stage(Quiet):
    """An output: stages the items of each time."""

    def on_message(self, context: Context, edge: EdgeId, items: Items) -> Result:
        """Adds to what is staged."""
        return Result(state=tuple(sorted(context.own + items)))
