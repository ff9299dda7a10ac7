"""Which pieces of a trace matter at a time: the lattice of structured times.

Changes at r and s are felt together at their join, r ∨ s, which is the greater of the two in each
coordinate. So t is a join of some of the times before it if and only if each coordinate of t is
that of one of them, and two times meet exactly at t if between them they have all of t's
coordinates. That is all there is to loops, however deep.
"""

from collections.abc import Iterable
from typing import TypeVar

from falkirk.core.times import Time

Piece = TypeVar("Piece")


def shared(time: Time, earlier: Time) -> int:
    """The coordinates of ``time`` that ``earlier`` has, as bits.

    >>> bin(shared((2, 5), (1, 5))), bin(shared((2, 5), (2, 5)))
    ('0b10', '0b11')
    """
    bits, bit = 0, 1
    for a, b in zip(time, earlier, strict=True):
        if a == b:
            bits |= bit
        bit <<= 1
    return bits


def by_shared(time: Time, trace: Iterable[tuple[Time, Piece]]) -> dict[int, list[Piece]]:
    """The pieces of a trace, which lie before ``time``, by the coordinates that they share."""
    found: dict[int, list[Piece]] = {}
    for earlier, piece in trace:
        found.setdefault(shared(time, earlier), []).append(piece)
    return found


def meeting(
    time: Time, left: Iterable[tuple[Time, Piece]], right: Iterable[tuple[Time, Piece]]
) -> list[tuple[list[Piece], list[Piece]]]:
    """Pieces of two traces that meet exactly at ``time``, each of one with each of the other.

    >>> meeting((1, 1), [((0, 1), "l01"), ((1, 1), "l11")], [((0, 0), "r00"), ((1, 0), "r10")])
    [(['l01'], ['r10']), (['l11'], ['r00', 'r10'])]
    """
    whole = (1 << len(time)) - 1
    others, found = by_shared(time, right), []
    for mask, pieces in by_shared(time, left).items():
        fitting = [p for other, those in others.items() if mask | other == whole for p in those]
        if fitting:
            found.append((pieces, fitting))
    return found


def touching(time: Time, trace: Iterable[tuple[Time, Piece]]) -> list[list[Piece]]:
    """For each coordinate the pieces that share it: a key that is in all of them may change.

    A key whose changes do not have all coordinates of ``time`` between them is as it was before.

    >>> touching((1, 1), [((0, 1), "x"), ((1, 0), "y"), ((0, 0), "z")])
    [['y'], ['x']]
    """
    masks = by_shared(time, trace)
    return [
        [piece for mask, pieces in masks.items() if mask >> i & 1 for piece in pieces]
        for i in range(len(time))
    ]
