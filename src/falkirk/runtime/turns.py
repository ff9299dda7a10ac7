"""Whose turn it is: those for whom someone waits first, then earlier times before later ones."""

from collections.abc import Sequence
from typing import Any

from falkirk.core.machine.events import Delivery, Item
from falkirk.core.times import ProcessorId, SequenceNumber
from falkirk.dataflow.blueprint import Blueprint
from falkirk.runtime.pressure import reachable


class Turns:
    """Chooses among the events that may be processed.

    Behind a source whose clients wait for answers nothing waits for the rest of the flow: one
    thread is always left for it.
    """

    def __init__(self, blueprint: Blueprint) -> None:
        """Finds the processors behind such sources."""
        self.awaited = awaited(blueprint)

    def choose(self, items: Sequence[Item], threads: int, all_threads: int) -> Item | None:
        """The next of ``items``, if one of the free ``threads`` is for it."""
        first = [item for item in items if item.processor in self.awaited]
        if first:
            return min(first, key=order)
        reserved = 1 if self.awaited and all_threads > 1 else 0
        return min(items, key=order) if items and threads > reserved else None


def awaited(blueprint: Blueprint) -> frozenset[ProcessorId]:
    """The processors behind sources whose clients wait for answers."""
    waiting = [p for p, node in blueprint.sources.items() if hasattr(node.operator, "awaited")]
    return frozenset(q for p in waiting for q in reachable(blueprint.flow, p))


def order(item: Item) -> tuple[Any, ...]:
    """Earlier times first, so that epochs are completed and do not pile up."""
    found = item.message.time if isinstance(item, Delivery) else item.time
    return (found.number,) if isinstance(found, SequenceNumber) else tuple(found)
