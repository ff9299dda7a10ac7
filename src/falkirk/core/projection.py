"""Edge projections φ(e), their images, and the adjoints of the images (§3.2).

For an edge from p to q and a frontier f of p:

* ``phi(f)`` is what f *fixes* at q: p sends no message with such a time because of an event outside
  f.
* ``image(f)`` is ↓ of the times of messages that events in f can have sent: what a processor that
  logs nothing has discarded.
* ``adjoint(F)`` is the largest f with image(f) ⊆ F: how far p may keep its work if q keeps only F.

Laws: all three are monotone; ``image(f) <= F`` exactly when ``f <= adjoint(F)``; ∅ maps to ∅ and ⊤
to ⊤. φ and the image differ where an edge crosses a loop: out of a loop, ↓(1, 3) fixes epoch 0 but
has sent at epoch 1; into a loop, epoch 1 fixes (1, ∞) but was sent at (1, 0).
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from falkirk.core.domain import Domain, Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.frontier import ProductFrontier, TotalFrontier
from falkirk.core.reorder import inside, predecessor, spread
from falkirk.core.times import INF, Time


class Projection(ABC):
    """φ of one edge, from the domain of its source to the domain of its target."""

    name: ClassVar[str]
    recorded: ClassVar[bool] = False
    advances: ClassVar[bool] = False
    """Whether a cycle through such an edge moves forward in time."""

    @abstractmethod
    def phi(self, frontier: Any) -> Any:
        """The times at the target that ``frontier`` fixes."""

    @abstractmethod
    def image(self, frontier: Any) -> Any:
        """↓ of the times of messages that events in ``frontier`` can have sent."""

    @abstractmethod
    def adjoint(self, bound: Any) -> Any:
        """The largest frontier whose image lies within ``bound``."""


class LoopProjection(Projection):
    """A projection between structured times, given by what it does to maximal times.

    Where the two ends order their times differently the edge is worked out in product order: a
    lexicographic frontier is a set of product order too, and on the way back the largest
    lexicographic frontier inside (for φ) or the smallest one around (for the image) is taken.
    """

    __slots__ = ("same", "source", "target", "total")
    deepens: ClassVar[int] = 0

    def __init__(self, source: Domain, target: Domain) -> None:
        """Fits the projection between two domains, or says why it does not fit."""
        if not isinstance(source, Structured) or not isinstance(target, Structured):
            raise DefinitionError(
                f"{self.name!r} maps structured times; an edge from or to sequence numbers"
                " needs a recorded projection"
            )
        if source.depth + self.deepens != target.depth:
            leads = f"n{self.deepens:+}" if self.deepens else "n"
            raise DefinitionError(
                f"{self.name!r} leads from depth n to depth {leads},"
                f" not from {source.depth} to {target.depth}"
            )
        self.source, self.target = source, target
        self.same = source == target
        self.total = source.total and target.total

    def phi(self, frontier: Any) -> Any:
        """The times at the target that ``frontier`` fixes."""
        if frontier.is_top:
            return self.target.top
        if self.total:
            return TotalFrontier(self.fix_lex(frontier)) if frontier else frontier
        fixed = ProductFrontier(t for m in spread(self.source, frontier) for t in self.fix(m))
        return inside(self.target, fixed)

    def image(self, frontier: Any) -> Any:
        """↓ of the times of messages that events in ``frontier`` can have sent."""
        if frontier.is_top:
            return self.target.top
        if self.total:
            return TotalFrontier(self.send(frontier)) if frontier else frontier
        return self.target.frontier(map(self.send, spread(self.source, frontier)))

    def adjoint(self, bound: Any) -> Any:
        """The largest frontier whose image lies within ``bound``."""
        if bound.is_top:
            return self.source.top
        if self.total:
            return TotalFrontier(self.unsend_lex(bound)) if bound else bound
        kept = ProductFrontier(t for m in spread(self.target, bound) for t in self.unsend(m))
        return inside(self.source, kept)

    def fix(self, time: Time) -> list[Time]:
        """What ↓``time`` fixes, in product order: none or one maximal time."""
        return [self.send(time)]

    def fix_lex(self, time: Time) -> Time:
        """What ↓``time`` fixes, in lexicographic order."""
        return self.send(time)

    @abstractmethod
    def send(self, time: Time) -> Time:
        """The largest time at which an event at ``time`` sends."""

    @abstractmethod
    def unsend(self, time: Time) -> list[Time]:
        """The largest time that sends at most at ``time``, in product order, if there is one."""

    def unsend_lex(self, time: Time) -> Time:
        """The largest time that sends at most at ``time``, in lexicographic order."""
        return self.unsend(time)[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LoopProjection) or type(other) is not type(self):
            return False
        return (self.source, self.target) == (other.source, other.target)

    def __hash__(self) -> int:
        return hash((self.name, self.source, self.target))

    def __repr__(self) -> str:
        return self.name


class Identity(LoopProjection):
    """An event at t sends at t and later: φ(f) = f (§3.2).

    >>> Identity(Structured(1), Structured(1)).phi(TotalFrontier((3,)))
    ↓(3)
    >>> from falkirk.core.order import Order
    >>> Identity(Structured(2), Structured(2, Order.PRODUCT)).phi(TotalFrontier((1, 3)))
    ↓{(0, ∞), (1, 3)}
    """

    __slots__ = ()
    name = "identity"

    def phi(self, frontier: Any) -> Any:
        """``frontier`` itself."""
        return frontier if self.same else super().phi(frontier)

    def image(self, frontier: Any) -> Any:
        """``frontier`` itself."""
        return frontier if self.same else super().image(frontier)

    def adjoint(self, bound: Any) -> Any:
        """``bound`` itself."""
        return bound if self.same else super().adjoint(bound)

    def send(self, time: Time) -> Time:
        """The same time."""
        return time

    def unsend(self, time: Time) -> list[Time]:
        """The same time."""
        return [time]


class Enter(LoopProjection):
    """Into a loop: t becomes (t, 0), and epoch t fixes every iteration of t (Figure 2c).

    >>> enter = Enter(Structured(1), Structured(2))
    >>> enter.phi(TotalFrontier((1,))), enter.image(TotalFrontier((1,)))
    (↓(1, ∞), ↓(1, 0))
    >>> enter.adjoint(TotalFrontier((1, 3)))
    ↓(1)
    """

    __slots__ = ()
    name = "enter"
    deepens = 1

    def fix(self, time: Time) -> list[Time]:
        """Every iteration of ``time``."""
        return [(*time, INF)]

    def fix_lex(self, time: Time) -> Time:
        """Every iteration of ``time``."""
        return (*time, INF)

    def send(self, time: Time) -> Time:
        """The first iteration of ``time``."""
        return (*time, 0)

    def unsend(self, time: Time) -> list[Time]:
        """The time outside the loop."""
        return [tuple(time[:-1])]


class Leave(LoopProjection):
    """Out of a loop: (t, c) becomes t, which is fixed once every iteration of t is.

    >>> leave = Leave(Structured(2), Structured(1))
    >>> leave.phi(TotalFrontier((1, 3))), leave.phi(TotalFrontier((1, INF)))
    (↓(0), ↓(1))
    >>> leave.image(TotalFrontier((1, 3))), leave.adjoint(TotalFrontier((1,)))
    (↓(1), ↓(1, ∞))
    """

    __slots__ = ()
    name = "leave"
    deepens = -1

    def fix(self, time: Time) -> list[Time]:
        """The time outside, if every iteration of it is included."""
        return [tuple(time[:-1])] if time[-1] == INF else []

    def fix_lex(self, time: Time) -> Time:
        """The time outside if all its iterations are included, else the one before."""
        outer = tuple(time[:-1])
        return outer if time[-1] == INF else predecessor(outer)

    def send(self, time: Time) -> Time:
        """The time outside the loop."""
        return tuple(time[:-1])

    def unsend(self, time: Time) -> list[Time]:
        """Every iteration of ``time``."""
        return [(*time, INF)]


class Feedback(LoopProjection):
    """Around a loop: (t, c) becomes (t, c + 1).

    >>> feedback = Feedback(Structured(2), Structured(2))
    >>> feedback.phi(TotalFrontier((1, 3))), feedback.adjoint(TotalFrontier((1, 3)))
    (↓(1, 4), ↓(1, 2))
    >>> feedback.adjoint(TotalFrontier((1, 0)))
    ↓(0, ∞)
    """

    __slots__ = ()
    name = "feedback"
    advances = True

    def __init__(self, source: Domain, target: Domain) -> None:
        """Fits the projection between two loop domains."""
        super().__init__(source, target)
        if self.source.depth < 2:
            raise DefinitionError("'feedback' adds one to a loop counter, and an epoch has none")

    def send(self, time: Time) -> Time:
        """The next iteration."""
        return (*time[:-1], time[-1] + 1)

    def unsend(self, time: Time) -> list[Time]:
        """The iteration before, if there is one."""
        return [(*time[:-1], time[-1] - 1)] if time[-1] > 0 else []

    def unsend_lex(self, time: Time) -> Time:
        """The iteration before, or all iterations of the time before."""
        if time[-1] > 0:
            return (*time[:-1], time[-1] - 1)
        before = predecessor(tuple(time[:-1]))
        return (*before, INF) if before else ()
