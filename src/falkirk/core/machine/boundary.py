"""Boundaries: the end of an epoch, and what lies before a time, as frontiers."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from falkirk.core.domain import Domain, Structured
from falkirk.core.frontier import TotalFrontier
from falkirk.core.times import INF, SequenceNumber, Time


def whole_epochs(frontier: Any) -> Any:
    """The last epoch that lies in ``frontier`` with all of its times, or -1.

    >>> whole_epochs(TotalFrontier((2, INF))), whole_epochs(TotalFrontier((2, 7)))
    (2, 1)
    """
    if isinstance(frontier, TotalFrontier):
        if not frontier:
            return -1
        return frontier[0] if all(c == INF for c in frontier[1:]) else frontier[0] - 1
    whole = [time[0] for time in frontier.maximal if all(c == INF for c in time[1:])]
    return max(whole, default=-1)


@lru_cache(4096)
def boundary(domain: Structured, epoch: Any) -> Any:
    """The frontier of all times up to the end of ``epoch``."""
    return domain.frontier([(epoch, *(INF,) * (domain.depth - 1))])


def excluding(domain: Domain, frontier: Any, times: Iterable[Any]) -> Any:
    """The largest frontier inside ``frontier`` that has none of ``times``.

    >>> excluding(Structured(1), TotalFrontier((7,)), [(5,), (3,)])
    ↓(2)
    """
    for time in times:
        if isinstance(time, SequenceNumber):
            before = TotalFrontier((time.number - 1,) if time.number > 1 else ())
            frontier = domain.limited(frontier, time.edge, before)
        elif isinstance(domain, Structured):
            frontier = frontier & domain.frontier(not_after(time, domain.total))
    return frontier


def not_after(time: Time, total: bool) -> list[Time]:
    """The maximal ones of all times that are neither ``time`` nor later.

    >>> not_after((2, 0, 1), total=True), not_after((2, 0, 0), total=True)
    ([(2, 0, 0)], [(1, inf, inf)])
    >>> not_after((2, 0, 1), total=False)
    [(1, inf, inf), (inf, inf, 0)]
    """
    kept = time if total else (INF,) * len(time)
    lowered = [
        (*kept[:place], count - 1, *(INF,) * (len(time) - place - 1))
        for place, count in enumerate(time)
        if count
    ]
    return lowered[-1:] if total else lowered
