"""Boundaries between epochs, as frontiers of any structured domain."""

from functools import lru_cache
from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.frontier import TotalFrontier
from falkirk.core.times import INF


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
