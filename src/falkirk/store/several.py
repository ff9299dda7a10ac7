"""Databases limit how many values one question may hold, so long lists are asked in pieces."""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, Select

from falkirk.core.times import ProcessorId

Item = TypeVar("Item")

Place = tuple[ProcessorId, str]
"""A processor and a time key."""

PIECE = 500


def in_pieces(items: Iterable[Item], size: int = PIECE) -> Iterator[list[Item]]:
    """The items in lists of at most ``size``.

    >>> list(in_pieces("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while piece := list(islice(rest, size)):
        yield piece


def at_places(
    connection: Connection, question: Select[Any], places: Collection[Place]
) -> Iterator[Any]:
    """The rows at ``places`` of a table that has processors and times.

    The question is about the ``names`` and the ``keys`` of all of them, since that is one question:
    most processors have something at most of the times.
    """
    wanted, times = set(places), {key: None for _, key in places}
    for names in in_pieces({p: None for p, _ in places}):
        for keys in in_pieces(times):
            for row in connection.execute(question, {"names": names, "keys": keys}):
                if (row.processor, row.time) in wanted:
                    yield row
