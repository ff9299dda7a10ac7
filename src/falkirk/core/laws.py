"""Checks of the laws that projections must obey, for users to run on their own (§3.2).

A projection that is not monotone makes "the largest consistent rollback" meaningless. These checks
try every pair among a list of frontiers and return the first counterexample;
:func:`small_frontiers` lists all frontiers of a domain up to a bound, which finds most mistakes at
once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.projection import Projection
from falkirk.core.times import INF


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two frontiers, the smaller inside the larger, at which a law fails."""

    law: str
    smaller: Any
    larger: Any
    because: str


def counterexample(projection: Projection, frontiers: Iterable[Any]) -> Counterexample | None:
    """The first pair of ``frontiers`` at which φ is not monotone, or None.

    >>> from falkirk.core.bridges import Custom
    >>> from falkirk.core.domain import EPOCH
    >>> from falkirk.core.frontier import TotalFrontier
    >>> swapped = Custom(lambda f: TotalFrontier((3 - f[0],)) if f and not f.is_top else f)
    >>> print(counterexample(swapped, small_frontiers(EPOCH, 3)).because)
    ↓(0) ⊆ ↓(1), but φ gives ↓(3) and ↓(2)
    """
    for smaller, larger in _ordered_pairs(list(frontiers)):
        low, high = projection.phi(smaller), projection.phi(larger)
        if not low <= high:
            because = f"{smaller!r} ⊆ {larger!r}, but φ gives {low!r} and {high!r}"
            return Counterexample("monotone", smaller, larger, because)
    return None


def adjoint_counterexample(
    projection: Projection, sources: Iterable[Any], targets: Iterable[Any]
) -> Counterexample | None:
    """The first (f, F) for which image(f) ⊆ F and f ⊆ adjoint(F) disagree, or None."""
    for frontier, bound in product(list(sources), list(targets)):
        sent, kept = projection.image(frontier), projection.adjoint(bound)
        if (sent <= bound) != (frontier <= kept):
            because = f"image {sent!r} against {bound!r}, but adjoint {kept!r} against {frontier!r}"
            return Counterexample("adjoint", frontier, bound, because)
    return None


def small_frontiers(domain: Structured, bound: int, antichain: int = 2) -> list[Any]:
    """Every frontier with coordinates up to ``bound`` or ∞ and at most ``antichain`` maximal times.

    >>> from falkirk.core.domain import EPOCH
    >>> small_frontiers(EPOCH, 1)
    [∅, ↓(0), ↓(1), ⊤]
    """
    counters = [*range(bound + 1), INF]
    times = list(product(range(bound + 1), *[counters] * (domain.depth - 1)))
    width = 1 if domain.total else antichain
    found = {domain.frontier(chosen) for chosen in _subsets(times, width)} | {domain.top}
    return sorted(found, key=lambda frontier: frontier.maximal)


def _subsets(times: list[Any], size: int) -> Iterator[tuple[Any, ...]]:
    for count in range(size + 1):
        yield from combinations(times, count)


def _ordered_pairs(frontiers: list[Any]) -> Iterator[tuple[Any, Any]]:
    for left, right in combinations(frontiers, 2):
        if left <= right:
            yield left, right
        elif right <= left:
            yield right, left
