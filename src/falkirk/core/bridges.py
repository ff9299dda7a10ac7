"""Projections that depend on more than two domains: recorded, tabulated, user-supplied (§3.2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from falkirk.core.domain import EPOCH, Domain, Sequence
from falkirk.core.errors import DefinitionError
from falkirk.core.frontier import SequenceFrontier, TotalFrontier
from falkirk.core.projection import Projection
from falkirk.core.times import INF, EdgeId


class Recorded(Projection):
    """φ depends on history and is stored with each checkpoint (sequence numbers, §3.2).

    It is known only where it was recorded: :class:`falkirk.core.checkpoint.Chain` looks it up.
    """

    __slots__ = ()
    name = "recorded"
    recorded = True
    advances = True

    def phi(self, frontier: Any) -> Any:
        """Not a function of the frontier alone."""
        raise DefinitionError("a recorded projection is known only at recorded checkpoints")

    def image(self, frontier: Any) -> Any:
        """Not a function of the frontier alone."""
        return self.phi(frontier)

    def adjoint(self, bound: Any) -> Any:
        """Not a function of the frontier alone."""
        return self.phi(bound)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Steps(Projection):
    """φ as a growing table of (frontier of the source, frontier of the target) pairs.

    Both bridges of §3.2 are such tables. Epoch to sequence: when epoch t closes, ``count`` messages
    have been forwarded in all. Sequence to epoch: window t closes after ``count`` messages. Between
    two entries nothing more is fixed; beyond the last one anything may have been sent.

    >>> bridge = Steps.epoch_to_sequence([73, 100])
    >>> bridge.phi(TotalFrontier((0,))), bridge.phi(TotalFrontier((5,)))
    (↓(73), ↓(100))
    >>> bridge.image(TotalFrontier((1,))), bridge.adjoint(TotalFrontier((99,)))
    (↓(100), ↓(0))
    >>> windows = Steps.sequence_to_epoch("e", [10, 25])
    >>> windows.phi(SequenceFrontier({"e": 24})), windows.image(SequenceFrontier({"e": 11}))
    (↓(0), ↓(1))
    """

    name: ClassVar[str] = "steps"
    source: Domain
    target_top: Any
    target_empty: Any
    table: tuple[tuple[Any, Any], ...] = ()

    @classmethod
    def epoch_to_sequence(cls, counts: list[int]) -> "Steps":
        """Epoch t is forwarded as the messages up to the ``counts[t]``-th of the edge.

        Sequence numbers count from one, so no messages are ∅.

        >>> Steps.epoch_to_sequence([0, 5]).phi(TotalFrontier((0,)))
        ∅
        """
        table = tuple(
            (TotalFrontier((t,)), TotalFrontier((n,) if n else ())) for t, n in enumerate(counts)
        )
        return cls(EPOCH, TotalFrontier((INF,)), TotalFrontier(), table)

    @classmethod
    def sequence_to_epoch(cls, edge: EdgeId, bounds: list[int]) -> "Steps":
        """Epoch t consists of the messages of ``edge`` up to the ``bounds[t]``-th.

        For a processor with a second input the image is ⊤ as soon as that input has messages: safe,
        but it forces the source back.
        """
        table = tuple(
            (SequenceFrontier({edge: n}), TotalFrontier((t,))) for t, n in enumerate(bounds)
        )
        return cls(Sequence(), TotalFrontier((INF,)), TotalFrontier(), table)

    def closed(self, frontier: Any, fixed: Any) -> "Steps":
        """The table with one more entry; both columns grow."""
        if self.table and not (self.table[-1][0] <= frontier and self.table[-1][1] <= fixed):
            raise DefinitionError(f"{frontier!r} → {fixed!r} does not extend {self.table[-1]!r}")
        return Steps(
            self.source, self.target_top, self.target_empty, (*self.table, (frontier, fixed))
        )

    def phi(self, frontier: Any) -> Any:
        """What the largest entry inside ``frontier`` fixes; ∅ fixes nothing."""
        if frontier.is_empty:
            return self.target_empty
        if frontier.is_top:
            return self.target_top
        fixed = [part for entry, part in self.table if entry <= frontier]
        return fixed[-1] if fixed else self.target_empty

    def image(self, frontier: Any) -> Any:
        """What the smallest entry around ``frontier`` has sent."""
        if frontier.is_empty:
            return self.target_empty
        return next((part for entry, part in self.table if frontier <= entry), self.target_top)

    def adjoint(self, bound: Any) -> Any:
        """The largest entry that has sent no more than ``bound``."""
        if bound.is_top:
            return self.source.top
        kept = [entry for entry, part in self.table if part <= bound]
        return kept[-1] if kept else self.source.empty

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Custom(Projection):
    """A projection that the user supplies; check it with :func:`falkirk.core.laws.counterexample`.

    ``image`` and ``adjoint`` are needed only where the source restores to any frontier.
    """

    name: ClassVar[str] = "custom"
    phi_of: Callable[[Any], Any]
    image_of: Callable[[Any], Any] | None = None
    adjoint_of: Callable[[Any], Any] | None = None

    def phi(self, frontier: Any) -> Any:
        """The user's φ."""
        return self.phi_of(frontier)

    def image(self, frontier: Any) -> Any:
        """The user's image, or φ where sent times are fixed times (Table 1's approximation)."""
        return (self.image_of or self.phi_of)(frontier)

    def adjoint(self, bound: Any) -> Any:
        """The user's adjoint of the image."""
        if self.adjoint_of is None:
            raise DefinitionError(
                "this custom projection has no adjoint: give adjoint_of, or save checkpoints"
                " at its source instead of restoring to any frontier"
            )
        return self.adjoint_of(bound)

    def __repr__(self) -> str:
        return self.name
