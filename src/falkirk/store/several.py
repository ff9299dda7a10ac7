"""Databases limit how many values one question may hold, so long lists are asked in pieces."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

PIECE = 500


def in_pieces(items: Iterable[Item], size: int = PIECE) -> Iterator[list[Item]]:
    """The items in lists of at most ``size``.

    >>> list(in_pieces("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while piece := list(islice(rest, size)):
        yield piece
