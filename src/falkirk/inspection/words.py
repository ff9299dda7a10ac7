"""Frontiers and times in the words of people who have epochs, rounds and messages."""

from dataclasses import dataclass
from typing import Any

from falkirk.core.graph import Graph
from falkirk.core.problem import notation
from falkirk.core.times import ProcessorId
from falkirk.core.words import at, until

__all__ = ["Mark", "at", "mark", "several", "size", "until"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A frontier, in words and in the notation of ``falkirk solve``."""

    words: str
    frontier: Any


def mark(graph: Graph, p: ProcessorId, frontier: Any) -> Mark:
    """A frontier of ``p`` for people and for programs."""
    return Mark(until(frontier), notation(graph, p, frontier))


def size(count: float) -> str:
    """Bytes as people read them.

    >>> size(0), size(812), size(20_480), size(3 << 30)
    ('0 B', '812 B', '20.0 KiB', '3.0 GiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def several(count: int, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> several(1, "file"), several(2, "file"), several(0, "entry", "entries")
    ('1 file', '2 files', '0 entries')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"
