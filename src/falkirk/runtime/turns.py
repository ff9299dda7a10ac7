"""Whose turn it is: those for whom someone waits first, then earlier times before later ones."""

from collections.abc import Callable, Sequence
from heapq import nsmallest
from typing import Any

from falkirk.core.machine.events import Delivery, Item
from falkirk.core.times import ProcessorId, SequenceNumber
from falkirk.dataflow.blueprint import Blueprint
from falkirk.runtime.pressure import leading_to, reachable


class Turns:
    """Chooses among the events that may be processed.

    Behind a source whose clients wait for answers nothing waits for the rest of the flow. First
    come those on the way to the answer, and one thread is always left for them; then those whom a
    query leads to besides, such as statistics; then all others. An event that takes no thread,
    because the driver does it itself, waits for none.
    """

    def __init__(
        self, blueprint: Blueprint, inline: Callable[[Item], bool] = lambda item: False
    ) -> None:
        """Finds the processors behind such sources; ``inline`` says which events take no thread."""
        self.awaited, self.answering = awaited(blueprint), answering(blueprint)
        self.inline = inline

    def first(
        self, items: Sequence[Item], threads: int, all_threads: int, more: int = 0
    ) -> list[Item]:
        """What of ``items`` may begin, in its order: no more than there are free ``threads``.

        And all that need none; and ``more`` that come next.
        """
        key = self._order if self.awaited else order
        own: list[Item] = []
        others: list[Item] = []
        for item in items:
            if self.inline(item):
                own.append(item)
            elif threads > 0 and self.may_begin(item, threads, all_threads):
                others.append(item)
        return sorted([*own, *nsmallest(threads + more, others, key)], key=key)

    def may_begin(self, item: Item, threads: int, all_threads: int) -> bool:
        """Whether one of the free ``threads`` is for an item, or it needs none."""
        reserved = 1 if self.awaited and all_threads > 1 else 0
        needed = 0 if item.processor in self.answering else reserved
        return threads > needed or self.inline(item)

    def _order(self, item: Item) -> tuple[Any, ...]:
        p = item.processor
        return (p not in self.answering, p not in self.awaited, *order(item))


def awaited(blueprint: Blueprint) -> frozenset[ProcessorId]:
    """The processors behind sources whose clients wait for answers."""
    waiting = [p for p, node in blueprint.sources.items() if hasattr(node.operator, "awaited")]
    return frozenset(q for p in waiting for q in reachable(blueprint.flow, p))


def answering(blueprint: Blueprint) -> frozenset[ProcessorId]:
    """Those of them on the way to the answer; all, behind a source that no sink answers."""
    flow, sinks = blueprint.flow, blueprint.answering
    return frozenset(
        q
        for p, node in blueprint.sources.items()
        if hasattr(node.operator, "awaited")
        for q in (leading_to(flow, p, sinks[p]) if sinks.get(p) else reachable(flow, p))
    )


def order(item: Item) -> tuple[Any, ...]:
    """Earlier times first, so that epochs are completed and do not pile up."""
    found = item.message.time if isinstance(item, Delivery) else item.time
    return (found.number,) if isinstance(found, SequenceNumber) else found
