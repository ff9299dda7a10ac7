"""Frontiers: downward-closed sets of times (§3.1).

A frontier is a set, and its operators are those of Python's own sets: ``<=`` is ⊆, ``|`` is ∪,
``&`` is ∩ and ``in`` is membership. Frontiers are immutable, canonical (equal sets are equal
values) and hashable. One class serves each kind of time:

* :class:`TotalFrontier` where times are totally ordered: epochs, the lexicographic order, and the
  sequence numbers of one edge. It is a tuple, so that ⊆ is one comparison in C.
* :class:`ProductFrontier` where they are not: an antichain of maximal times.
* :class:`SequenceFrontier` for a processor whose times are the sequence numbers of all its inputs.

⊤ contains every time: it is ∞ in every coordinate. ∅ has no maximal element.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, Self, TypeVar

from falkirk.core.order import product_leq
from falkirk.core.times import INF, Coordinate, EdgeId, SequenceNumber, Time

Item = TypeVar("Item")


class Frontier(Protocol):
    """What every frontier offers. Frontiers of different domains are never compared."""

    def __le__(self, other: Any, /) -> bool: ...
    def __and__(self, other: Any, /) -> Any: ...
    def __or__(self, other: Any, /) -> Any: ...
    def __contains__(self, time: Any, /) -> bool: ...
    def __hash__(self) -> int: ...

    @property
    def is_empty(self) -> bool: ...
    @property
    def is_top(self) -> bool: ...


class TotalFrontier(tuple[Coordinate, ...]):
    """All times up to one maximal time of a total order; ∅ is the empty tuple.

    In lexicographic order nothing follows ∞ at its level, so coordinates after the first ∞ are ∞.

    >>> f, g = TotalFrontier((1, 3)), TotalFrontier((1, INF))
    >>> f <= g, f & g, f | g, (1, 4) in f, (0, 99) in f
    (True, ↓(1, 3), ↓(1, ∞), False, True)
    >>> TotalFrontier((2, INF, 5))
    ↓(2, ∞, ∞)
    """

    __slots__ = ()

    def __new__(cls, time: Iterable[Coordinate] = ()) -> Self:
        """The frontier whose maximal time is ``time``, or ∅ when there is none."""
        coordinates = tuple(time)
        if INF in coordinates:
            first = coordinates.index(INF)
            coordinates = coordinates[:first] + (INF,) * (len(coordinates) - first)
        return tuple.__new__(cls, coordinates)

    @property
    def is_empty(self) -> bool:
        """Whether this is ∅."""
        return not self

    @property
    def is_top(self) -> bool:
        """Whether this is ⊤."""
        return bool(self) and self[0] == INF

    @property
    def maximal(self) -> tuple[Time, ...]:
        """The maximal times: one, or none for ∅."""
        return (tuple(self),) if self else ()

    def __contains__(self, time: object) -> bool:
        """Whether ``time`` is no later than the maximal time."""
        return isinstance(time, tuple) and self >= time

    def __and__(self, other: Self) -> Self:
        return self if self <= other else other

    def __or__(self, other: Self) -> Self:
        return other if self <= other else self

    def __repr__(self) -> str:
        return "∅" if not self else "⊤" if self.is_top else "↓" + show_time(self)


class ProductFrontier:
    """The downward closure of an antichain of times in product order.

    >>> f = ProductFrontier([(0, INF), (1, 3), (1, 2)])
    >>> f
    ↓{(0, ∞), (1, 3)}
    >>> (0, 7) in f, (1, 3) in f, (1, 4) in f
    (True, True, False)
    >>> f & ProductFrontier([(2, 1)])
    ↓{(1, 1)}
    >>> ProductFrontier([(0, 2)]) | ProductFrontier([(1, 1)]) == ProductFrontier([(1, 1), (0, 2)])
    True
    """

    __slots__ = ("_hash", "maximal")
    maximal: tuple[Time, ...]

    def __init__(self, times: Iterable[Time] = ()) -> None:
        """The smallest frontier that contains all ``times``."""
        self.maximal = antichain(times)
        self._hash = hash(self.maximal)

    @property
    def is_empty(self) -> bool:
        """Whether this is ∅."""
        return not self.maximal

    @property
    def is_top(self) -> bool:
        """Whether this is ⊤."""
        return len(self.maximal) == 1 and all(c == INF for c in self.maximal[0])

    def __contains__(self, time: Time) -> bool:
        return any(product_leq(time, top) for top in self.maximal)

    def __le__(self, other: Self) -> bool:
        if self is other or self.maximal == other.maximal:
            return True
        return all(time in other for time in self.maximal)

    def __and__(self, other: Self) -> "ProductFrontier":
        if self <= other:
            return self
        if other <= self:
            return other
        return ProductFrontier(
            tuple(map(min, left, right)) for left in self.maximal for right in other.maximal
        )

    def __or__(self, other: Self) -> "ProductFrontier":
        if other <= self:
            return self
        if self <= other:
            return other
        return ProductFrontier(self.maximal + other.maximal)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProductFrontier) and self.maximal == other.maximal

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        if self.is_empty or self.is_top:
            return "∅" if self.is_empty else "⊤"
        return "↓{" + ", ".join(map(show_time, self.maximal)) + "}"


class SequenceFrontier:
    """How many messages are included of each input edge: f^s(s₁, …, sₙ) of §3.1.

    Edges that are not named have ``default`` messages: none, or all of them.

    >>> f = SequenceFrontier({"e1": 4, "e2": 7})
    >>> f, f.on("e1"), f.on("e3"), SequenceNumber("e2", 7) in f
    ({e1: 4, e2: 7}, ↓(4), ∅, True)
    >>> f & SequenceFrontier({"e1": 9})
    {e1: 4}
    >>> SequenceFrontier({"e1": 2}, default=INF)
    {e1: 2, …: ∞}
    """

    __slots__ = ("_by_edge", "counts", "default")
    counts: tuple[tuple[EdgeId, Coordinate], ...]
    default: Coordinate

    def __init__(self, counts: dict[EdgeId, Coordinate], default: Coordinate = 0) -> None:
        """The frontier with ``counts[e]`` messages of each edge e."""
        self.counts = tuple(sorted((e, n) for e, n in counts.items() if n != default))
        self.default = default
        self._by_edge = dict(self.counts)

    @property
    def is_empty(self) -> bool:
        """Whether this is ∅."""
        return not self.counts and not self.default

    @property
    def is_top(self) -> bool:
        """Whether this is ⊤."""
        return not self.counts and self.default == INF

    def count(self, edge: EdgeId) -> Coordinate:
        """How many messages of ``edge`` are included."""
        return self._by_edge.get(edge, self.default)

    def on(self, edge: EdgeId) -> TotalFrontier:
        """The part of this frontier on one edge, where sequence numbers are totally ordered."""
        number = self.count(edge)
        return TotalFrontier((number,)) if number else TotalFrontier()

    def limited(self, edge: EdgeId, part: TotalFrontier) -> "SequenceFrontier":
        """This frontier with no more on ``edge`` than ``part`` has."""
        fewer = {edge: min(self.count(edge), part[0] if part else 0)}
        return SequenceFrontier({**self._by_edge, **fewer}, self.default)

    def __contains__(self, time: SequenceNumber) -> bool:
        return time.number <= self.count(time.edge)

    def _pairs(self, other: "SequenceFrontier") -> Iterator[tuple[EdgeId, Coordinate, Coordinate]]:
        mine, theirs = self._by_edge, other._by_edge
        for edge in {**mine, **theirs}:
            yield edge, mine.get(edge, self.default), theirs.get(edge, other.default)

    def __le__(self, other: "SequenceFrontier") -> bool:
        return self.default <= other.default and all(a <= b for _, a, b in self._pairs(other))

    def __and__(self, other: "SequenceFrontier") -> "SequenceFrontier":
        counts = {edge: min(a, b) for edge, a, b in self._pairs(other)}
        return SequenceFrontier(counts, min(self.default, other.default))

    def __or__(self, other: "SequenceFrontier") -> "SequenceFrontier":
        counts = {edge: max(a, b) for edge, a, b in self._pairs(other)}
        return SequenceFrontier(counts, max(self.default, other.default))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SequenceFrontier)
            and self.default == other.default
            and self.counts == other.counts
        )

    def __hash__(self) -> int:
        return hash((self.counts, self.default))

    def __repr__(self) -> str:
        if self.is_empty or self.is_top:
            return "∅" if self.is_empty else "⊤"
        shown = [f"{edge}: {'∞' if n == INF else n}" for edge, n in self.counts]
        return "{" + ", ".join(shown + ["…: ∞"] * (self.default == INF)) + "}"


def antichain(times: Iterable[Time]) -> tuple[Time, ...]:
    """The maximal elements of ``times`` in product order, sorted.

    >>> antichain([(1, 0), (0, 5), (0, 3)])
    ((0, 5), (1, 0))
    """
    found = sorted(set(times))
    if len(found) < 2:
        return tuple(found)
    return tuple(
        time
        for time in found
        if not any(time is not other and product_leq(time, other) for other in found)
    )


def keep(frontier: Frontier, items: Iterable[tuple[Any, Item]]) -> list[tuple[Any, Item]]:
    """The (time, item) pairs whose time lies in ``frontier``: the @ of §3.4.

    >>> keep(TotalFrontier((1,)), [((0,), "a"), ((2,), "b"), ((1,), "c")])
    [((0,), 'a'), ((1,), 'c')]
    """
    return [(time, item) for time, item in items if time in frontier]


def drop(frontier: Frontier, items: Iterable[tuple[Any, Item]]) -> list[tuple[Any, Item]]:
    """The (time, item) pairs whose time lies outside ``frontier``: the crossed-out @ of §3.6.

    >>> drop(TotalFrontier((1,)), [((0,), "a"), ((2,), "b"), ((1,), "c")])
    [((2,), 'b')]
    """
    return [(time, item) for time, item in items if time not in frontier]


def show_time(time: Iterable[Coordinate]) -> str:
    """A time as the paper writes it."""
    return "(" + ", ".join("∞" if c == INF else str(c) for c in time) + ")"
