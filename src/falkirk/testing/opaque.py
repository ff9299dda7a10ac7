"""Processors that keep their state themselves: in a run, it is the driver that remembers it."""

from typing import Any

from falkirk.core.machine.events import Persist
from falkirk.core.order import product_leq
from falkirk.core.times import ProcessorId
from falkirk.testing.logic import Items

Memory = dict[ProcessorId, dict[Any, Items]]
"""What each of them holds, by time: the machine does not see it."""


def capture(memory: Memory, persist: Persist) -> dict[Any, Items]:
    """What a processor's own ``checkpoint(frontier)`` gives: what it would hold at the frontier."""
    frontier = persist.checkpoint.frontier
    held = memory.get(persist.processor, {})
    return {time: items for time, items in held.items() if time in frontier}


def visible(memory: Memory, p: ProcessorId, time: Any) -> Items:
    """What a processor that keeps its own state sees of it at ``time``."""
    held = memory.get(p, {})
    return tuple(i for t, items in held.items() if product_leq(t, time) for i in items)
