"""Between the two orders on structured times: one set of times, seen in either order.

Every lexicographic frontier is downward closed in product order too; the converse fails, so going
back one takes the largest lexicographic frontier inside or the smallest one around.
"""

from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.frontier import ProductFrontier, TotalFrontier
from falkirk.core.times import INF, Time


def predecessor(time: Time) -> Time:
    """The largest lexicographic bound below every time that starts with ``time``; () for none.

    >>> predecessor((2,)), predecessor((1, 0)), predecessor((0, 0)), predecessor((1, 3))
    ((1,), (0, inf), (), (1, 2))
    """
    if not time:
        return ()
    if time[-1] > 0:
        return (*time[:-1], time[-1] - 1)
    before = predecessor(time[:-1])
    return (*before, INF) if before else ()


def spread(domain: Structured, frontier: Any) -> tuple[Time, ...]:
    """The maximal times in product order of a frontier of ``domain``.

    >>> spread(Structured(2), TotalFrontier((1, 3)))
    ((0, inf), (1, 3))
    """
    if not domain.total:
        return tuple(frontier.maximal)
    if not frontier:
        return ()
    time = tuple(frontier)
    corners = (
        (*time[:i], time[i] - 1, *(INF,) * (domain.depth - i - 1))
        for i in range(domain.depth - 1)
        if 0 < time[i] < INF
    )
    return ProductFrontier([time, *corners]).maximal


def inside(domain: Structured, frontier: ProductFrontier) -> Any:
    """The largest frontier of ``domain`` inside ``frontier``.

    >>> inside(Structured(2), ProductFrontier([(0, INF), (2, 4)]))
    ↓(1, 4)
    """
    if not domain.total:
        return frontier
    return TotalFrontier(_inside(frontier.maximal, domain.depth))


def _inside(maximal: tuple[Time, ...], depth: int) -> Time:
    if not maximal:
        return ()
    full = max((m[0] for m in maximal if all(c == INF for c in m[1:])), default=-1)
    if full == INF or depth == 1:
        return (full,) + (INF,) * (depth - 1)
    rest = _inside(tuple(m[1:] for m in maximal if m[0] > full), depth - 1)
    if rest:
        return (full + 1, *rest)
    return (full,) + (INF,) * (depth - 1) if full >= 0 else ()
