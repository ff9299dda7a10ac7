"""Descending a loop counter at one stroke, where plain lowering takes an iteration at a time.

Stateless processors in a loop can hold each other back by a cycle of constraints that moves forward
in time: f(q) ⊆ f(p), because q was sent what p did, and q may keep iteration c only if p keeps
c + 1, because q discarded that. Lowered step by step, such a cycle takes as many rounds as the
counter has iterations.

Read a constraint as a demand: if x keeps a time t, then y keeps d(t). For built-in projections d is
plain: on an edge that discards, the time at which t is sent; on an edge that delivers, the time (at
least) that must have been fixed. Along a cycle of constraints from x back to x the demands compose.
Suppose that they leave the first j coordinates of t alone and add s > 0 to the next one. Then if x
keeps (u, c, v) it keeps (u, c + s, v'), and so (u, c + 2s, v″) and so on: it keeps (u, ∞, 0), and
even (u, ∞, v) when the demands leave v alone too. No consistent choice has a time for which that
fails, whatever the values of all variables are now, so all such times go at once. What is left is
no smaller than the fixed point, and plain lowering goes on from there.
"""

from collections.abc import Iterable
from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.frontier import ProductFrontier, TotalFrontier
from falkirk.core.projection import Enter, Feedback, Identity, Leave, Projection
from falkirk.core.reorder import predecessor
from falkirk.core.times import INF, Coordinate

Demand = list[tuple[int, Coordinate]]
"""Coordinates of a demanded time: (i, s) is the i-th of the kept time plus s, (-1, s) is s."""

CONSTANT = -1


def demand(depth: int, cycle: Iterable[tuple[bool, Projection]]) -> Demand | None:
    """What keeping a time demands around ``cycle``, or None where a projection is not built in.

    A step of the cycle is an edge with whether it discards (its target is asked next) or delivers
    (its source is asked).

    >>> loop = Structured(2)
    >>> forth, back = Identity(loop, loop), Feedback(loop, loop)
    >>> demand(2, [(True, forth), (True, back)])
    [(0, 0), (1, 1)]
    """
    time: Demand = [(i, 0) for i in range(depth)]
    for discards, projection in cycle:
        if isinstance(projection, Feedback):
            i, shift = time[-1]
            shift += 1 if discards else -1
            time[-1] = (i, max(shift, 0) if i == CONSTANT else shift)
        elif isinstance(projection, Enter if discards else Leave):
            time.append((CONSTANT, 0 if discards else INF))
        elif isinstance(projection, Leave if discards else Enter):
            time.pop()
        elif not isinstance(projection, Identity):
            return None
    return time


def leap(domain: Structured, frontier: Any, demanded: Demand) -> Any:
    """``frontier`` without the times that can never have what keeping them demands.

    >>> leap(Structured(2), TotalFrontier((1, 10**9)), [(0, 0), (1, 1)])
    ↓(0, ∞)
    >>> from falkirk.core.order import Order
    >>> f = ProductFrontier([(1, INF), (2, 7)])
    >>> leap(Structured(2, Order.PRODUCT), f, [(0, 0), (1, 1)])
    ↓{(1, ∞)}
    """
    kept = [(i, 0) for i in range(len(demanded))]
    j = next((i for i, pair in enumerate(demanded) if pair != kept[i]), 0)
    grows = j > 0 and (demanded[j][0] == j or demanded[j] == (CONSTANT, INF)) and demanded[j][1] > 0
    if not grows or frontier.is_empty or frontier.is_top:
        return frontier
    if domain.total:
        if frontier[j] == INF:
            return frontier
        before = predecessor(frontier[:j])
        return TotalFrontier((*before, *(INF,) * (domain.depth - j)) if before else ())
    endless = [m for m in frontier.maximal if m[j] == INF]
    if all(i == k and s >= 0 for k, (i, s) in enumerate(demanded[j + 1 :], j + 1)):
        return ProductFrontier(endless)
    return frontier & ProductFrontier((*m[:j], *(INF,) * (domain.depth - j)) for m in endless)
