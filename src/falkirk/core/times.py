"""Logical times and the identifiers that name places in a dataflow (§2, §3.1).

A structured time is a plain tuple ``(epoch, counter, ..., counter)``: an epoch alone is a tuple of
one. A sequence number is a pair of an edge and a position on that edge, counted from one as in the
paper. Tuples compare lexicographically in Python; that is used for canonical sorting only, and the
orders that carry meaning are named in :mod:`falkirk.core.order`.
"""

import math
from typing import Final, NamedTuple, NewType

ProcessorId = NewType("ProcessorId", str)
EdgeId = NewType("EdgeId", str)

INF: Final = math.inf
"""The unbounded coordinate: ``(3, INF)`` in a frontier stands for every iteration of epoch 3."""

Coordinate = int | float
"""A coordinate of a frontier's maximal element: an integer from zero, or ``INF``."""

Time = tuple[Coordinate, ...]
"""A structured time. Times of events are all integers; ``INF`` occurs in frontiers only."""


class SequenceNumber(NamedTuple):
    """The time of the ``number``-th message on ``edge`` (§2.1); numbers start at one.

    >>> SequenceNumber(EdgeId("e1"), 4)
    SequenceNumber(edge='e1', number=4)
    """

    edge: EdgeId
    number: int
