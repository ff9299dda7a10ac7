"""Repetitions in words: the median and how far they lie apart."""

import statistics
from collections.abc import Callable, Sequence


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return statistics.median(values)


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which ``part`` of all lie, by nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def spread(values: Sequence[float], show: Callable[[float], str]) -> str:
    """The median, with the least and the greatest in brackets."""
    return f"{show(median(values))} ({show(min(values))} to {show(max(values))})"


def verdict(met: bool) -> str:
    """How a target fared."""
    return "yes" if met else "**no**"
