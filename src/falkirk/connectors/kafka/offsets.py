"""Positions in Kafka: how far each partition was read, and how an epoch is shared among them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

Position = dict[str, dict[str, int]]
"""Topic to partition to the next offset. Partitions are texts, as JSON wants its keys."""

Offsets = dict[tuple[str, int], int]
"""The same, one entry a partition."""


class Span(NamedTuple):
    """The offsets of one partition from ``start`` up to, and without, ``end``."""

    topic: str
    partition: int
    start: int
    end: int


def flat(position: Mapping[str, Mapping[Any, int]]) -> Offsets:
    """A position as offsets.

    >>> flat({"t": {"1": 7}})
    {('t', 1): 7}
    """
    return {(t, int(p)): int(n) for t, parts in position.items() for p, n in parts.items()}


def nested(offsets: Offsets) -> Position:
    """Offsets as a position, in canonical order.

    >>> nested({("t", 10): 5, ("t", 9): 3})
    {'t': {'9': 3, '10': 5}}
    """
    position: Position = {}
    for (topic, partition), offset in sorted(offsets.items()):
        position.setdefault(topic, {})[str(partition)] = offset
    return position


def spans(start: Offsets, end: Offsets) -> list[Span]:
    """What lies between two positions; a partition that the first does not know starts at 0.

    >>> spans({("t", 0): 3}, {("t", 0): 5, ("t", 1): 2})
    [Span(topic='t', partition=0, start=3, end=5), Span(topic='t', partition=1, start=0, end=2)]
    """
    found = (Span(*place, start.get(place, 0), end[place]) for place in sorted(end))
    return [span for span in found if span.start < span.end]


def count(found: list[Span]) -> int:
    """How many offsets spans have: no fewer than records."""
    return sum(span.end - span.start for span in found)


def shared(found: list[Span], most: int) -> list[Span]:
    """The beginnings of ``found`` with ``most`` offsets in all, fairly shared.

    Everybody gets the same, and what one does not need goes to the others. Who gets of a remainder
    goes round from epoch to epoch: nobody waits for ever where partitions are many and offsets few.

    >>> [span.end for span in shared([Span("t", 0, 0, 9), Span("t", 1, 0, 2)], 8)]
    [6, 2]
    >>> [span.partition for span in shared([Span("t", 0, 4, 9), Span("t", 1, 5, 9)], 1)]
    [1]
    """
    left, level = most, 0
    ascending = sorted(span.end - span.start for span in found)
    for place, size in enumerate(ascending):
        level = min(size, left // (len(found) - place))
        if level < size:
            break
        left -= size
    taken = {span: min(span.end - span.start, level) for span in found}
    left = most - sum(taken.values())
    hungry = [span for span in found if taken[span] < span.end - span.start]
    turn = sum(span.start for span in found) % max(1, len(hungry))
    for span in (hungry[turn:] + hungry[:turn])[:left]:
        taken[span] += 1
    return [span._replace(end=span.start + n) for span, n in taken.items() if n]
