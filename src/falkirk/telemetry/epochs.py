"""A frontier as one number, for axes and gauges."""

from typing import Any

from falkirk.core.frontier import SequenceFrontier
from falkirk.core.machine.boundary import whole_epochs


def last_epoch(frontier: Any) -> float:
    """The last whole epoch of a frontier, -1 if it has none, ∞ if it has all.

    Where messages are numbered it is the number of those that lie inside, less one.

    >>> from falkirk.core.frontier import TotalFrontier
    >>> [last_epoch(TotalFrontier(time)) for time in [(4,), (), (4, 7)]]
    [4.0, -1.0, 3.0]
    >>> last_epoch(SequenceFrontier({"d": 2, "e": 3}))
    4.0
    """
    if frontier.is_empty or frontier.is_top:
        return -1.0 if frontier.is_empty else float("inf")
    if isinstance(frontier, SequenceFrontier):
        return float(sum(count for _, count in frontier.counts)) - 1
    return float(whole_epochs(frontier))
