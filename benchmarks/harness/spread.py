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
    return f"{show(median(values))} {ends(values, show)}"


def ends(values: Sequence[float], show: Callable[[float], str]) -> str:
    """The least and the greatest, in brackets."""
    return f"({show(min(values))} to {show(max(values))})"


def if_apart(values: Sequence[float], show: Callable[[float], str]) -> str:
    """As ``spread``, or the one thing to say where all look alike."""
    return spread(values, show) if len({show(each) for each in values}) > 1 else show(values[0])


def ratio(values: Sequence[float], bases: Sequence[float]) -> float:
    """The median of ``values`` over that of ``bases``."""
    return median(values) / median(bases)


def ratios(values: Sequence[float], bases: Sequence[float]) -> list[float]:
    """How ``values`` compare with ``bases``, turn by turn; ``ratio`` is never outside of them.

    Where one side had more turns than the other, each is compared with each.
    """
    if len(values) == len(bases):
        return [value / base for value, base in zip(values, bases, strict=True)]
    return [value / base for value in values for base in bases]


def times(values: Sequence[float], bases: Sequence[float], show: str = "{:.2f}×") -> str:
    """The ratio of the medians, with the least and the greatest of the turns in brackets."""
    return f"{show.format(ratio(values, bases))} {ends(ratios(values, bases), show.format)}"


def verdict(met: bool) -> str:
    """How a target fared."""
    return "yes" if met else "**no**"
