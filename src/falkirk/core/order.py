"""The partial orders on structured times.

``PRODUCT`` is the order of causality inside loops: a time precedes another when no coordinate is
larger. ``LEX`` is the total order that the paper imposes for checkpointing (§4.1). A partial order
is not a sorting order, so it has a name of its own, ``leq``, and never overloads ``<=``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from operator import le

from falkirk.core.times import SequenceNumber, Time


class Order(Enum):
    """How structured times of one processor are compared.

    Laws: ``leq`` is reflexive, antisymmetric and transitive; ``meet`` and ``join`` are its greatest
    lower and least upper bounds.

    >>> Order.PRODUCT.leq((1, 2), (2, 1)), Order.LEX.leq((1, 2), (2, 1))
    (False, True)
    >>> Order.PRODUCT.join((1, 2), (2, 1)), Order.PRODUCT.meet((1, 2), (2, 1))
    ((2, 2), (1, 1))
    """

    PRODUCT = "product"
    LEX = "lex"

    def leq(self, left: Time, right: Time) -> bool:
        """Whether ``left`` happens no later than ``right``."""
        if self is Order.LEX:
            return left <= right
        return product_leq(left, right)

    def meet(self, left: Time, right: Time) -> Time:
        """The greatest time that is no later than both."""
        if self is Order.LEX:
            return min(left, right)
        return tuple(map(min, left, right))

    def join(self, left: Time, right: Time) -> Time:
        """The least time that is no earlier than either."""
        if self is Order.LEX:
            return max(left, right)
        return tuple(map(max, left, right))


def product_leq(left: Time, right: Time) -> bool:
    """Whether no coordinate of ``left`` exceeds that of ``right``."""
    if len(left) == 1:  # most times are epochs, and this is asked more often than anything else
        return left[0] <= right[0]
    return all(map(le, left, right))


def least(times: Iterable[Time]) -> list[Time]:
    """The minimal ones of ``times`` in product order.

    >>> least([(1, 4), (2, 0), (2, 5), (1, 4)])
    [(1, 4), (2, 0)]
    """
    chosen = sorted(times)
    if len(chosen) < 2:
        return chosen
    found: list[Time] = []
    for time in chosen:  # what is earlier in product order is not later in this one
        if not any(product_leq(other, time) for other in found):
            found.append(time)
    return found


def joins(time: Time, others: Iterable[Time]) -> set[Time]:
    """``time`` and its joins, in product order, with any number of ``others``.

    >>> sorted(joins((1, 2), [(0, 5), (2, 0)]))
    [(1, 2), (1, 5), (2, 2)]
    >>> (1, 1, 1) in joins((1, 0, 0), [(0, 1, 0), (0, 0, 1)])
    True

    Of two coordinates a join of three times is one of two of them, so that ``others`` are not
    joined with each other: whoever came last among those was joined with the rest.
    """
    join = Order.PRODUCT.join
    if len(time) < 3:
        return {time, *(join(time, other) for other in others)}
    found = {time}
    for other in others:
        found |= {join(each, other) for each in found}
    return found


@dataclass(frozen=True, slots=True)
class SequenceOrder:
    """The order on sequence numbers: comparable only on one edge (§3.1).

    >>> e1, e2 = SequenceNumber("e1", 3), SequenceNumber("e2", 4)
    >>> SequenceOrder().leq(e1, e2), SequenceOrder().leq(e1, SequenceNumber("e1", 3))
    (False, True)
    """

    def leq(self, left: SequenceNumber, right: SequenceNumber) -> bool:
        """Whether both are on one edge and ``left`` is no later."""
        return left.edge == right.edge and left.number <= right.number
