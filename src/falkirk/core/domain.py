"""Time domains: which times a processor's events have, and how they are ordered (§3.1, §3.2)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from falkirk.core.errors import DefinitionError
from falkirk.core.frontier import ProductFrontier, SequenceFrontier, TotalFrontier
from falkirk.core.order import Order
from falkirk.core.times import INF, EdgeId, Time


class Domain(Protocol):
    """The times of one processor.

    A message on an input edge has a time in its receiver's domain. ``part`` gives what a frontier
    of the receiver says about one input edge, and ``limited`` cuts a frontier to what an edge
    allows: for structured times every edge sees the whole frontier, for sequence numbers only its
    own part.
    """

    @property
    def empty(self) -> Any: ...
    @property
    def top(self) -> Any: ...
    @property
    def edge_empty(self) -> Any: ...
    @property
    def edge_top(self) -> Any: ...
    @property
    def whole(self) -> bool:
        """Whether the part on every edge is the whole frontier."""

    def part(self, frontier: Any, edge: EdgeId) -> Any: ...
    def limited(self, frontier: Any, edge: EdgeId, part: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Structured:
    """Times ``(epoch, counter, ..., counter)``; ``depth`` counts the epoch.

    >>> loop = Structured(2, Order.LEX)
    >>> loop.frontier([(1, 3)]), loop.empty, loop.top
    (↓(1, 3), ∅, ⊤)
    >>> Structured(2, Order.PRODUCT).frontier([(1, 3), (2, 0)])
    ↓{(1, 3), (2, 0)}
    """

    depth: int
    order: Order = Order.LEX
    total: bool = field(init=False, compare=False, repr=False)
    """Whether all times are comparable, so that a frontier has one maximal time."""
    empty: Any = field(init=False, compare=False, repr=False)
    """∅; and of one edge, which sees the whole frontier."""
    top: Any = field(init=False, compare=False, repr=False)
    """⊤; likewise."""
    edge_empty: Any = field(init=False, compare=False, repr=False)
    edge_top: Any = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuses a domain without an epoch; ∅ and ⊤ are made once."""
        if self.depth < 1:
            raise DefinitionError(
                f"a structured time has at least its epoch, not depth {self.depth}"
            )
        total = self.order is Order.LEX or self.depth == 1
        time = (INF,) * self.depth
        empty = TotalFrontier() if total else ProductFrontier()
        top = TotalFrontier(time) if total else ProductFrontier([time])
        for name, value in (
            ("total", total),
            ("empty", empty),
            ("top", top),
            ("edge_empty", empty),
            ("edge_top", top),
        ):
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return 2 * self.depth + (self.order is Order.LEX)

    def frontier(self, times: Iterable[Time]) -> Any:
        """The smallest frontier that contains ``times``."""
        if self.total:
            return TotalFrontier(max(times, default=()))
        return ProductFrontier(times)

    @property
    def whole(self) -> bool:
        """Every edge sees the whole frontier."""
        return True

    def part(self, frontier: Any, edge: EdgeId) -> Any:
        """What ``frontier`` says about ``edge``: all of it."""
        return frontier

    def limited(self, frontier: Any, edge: EdgeId, part: Any) -> Any:
        """``frontier`` cut to ``part``."""
        return frontier & part


EPOCH = Structured(1)
"""The domain of epochs: one coordinate, totally ordered."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Times are the sequence numbers of each input edge (§2.1).

    >>> f = SequenceFrontier({"e1": 4, "e2": 7})
    >>> Sequence().part(f, "e2"), Sequence().limited(f, "e2", TotalFrontier((5,)))
    (↓(7), {e1: 4, e2: 5})
    """

    @property
    def empty(self) -> SequenceFrontier:
        """∅."""
        return SequenceFrontier({})

    @property
    def top(self) -> SequenceFrontier:
        """⊤."""
        return SequenceFrontier({}, INF)

    @property
    def edge_empty(self) -> TotalFrontier:
        """∅ on one edge."""
        return TotalFrontier()

    @property
    def edge_top(self) -> TotalFrontier:
        """⊤ on one edge."""
        return TotalFrontier((INF,))

    @property
    def whole(self) -> bool:
        """An edge sees only its own numbers."""
        return False

    def part(self, frontier: SequenceFrontier, edge: EdgeId) -> TotalFrontier:
        """The numbers of ``edge`` in ``frontier``."""
        return frontier.on(edge)

    def limited(
        self, frontier: SequenceFrontier, edge: EdgeId, part: TotalFrontier
    ) -> SequenceFrontier:
        """``frontier`` with no more on ``edge`` than ``part`` has."""
        return frontier.limited(edge, part)
