"""Measuring: processor time, repeated, with its spread."""

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Timing:
    """Seconds of processor time over several repetitions."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least disturbed repetition."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle repetition."""
        return statistics.median(self.seconds)

    @property
    def worst(self) -> float:
        """The slowest repetition."""
        return max(self.seconds)


def timed(call: Callable[[], Any], repetitions: int) -> Timing:
    """The processor time of ``call``, the collector of cyclic garbage at work as usual."""
    seconds = []
    gc.collect()
    for _ in range(repetitions):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return Timing(tuple(seconds))


def each(call: Callable[[Item], Any], items: Iterable[Item]) -> Timing:
    """The processor time of ``call`` on each of ``items``, where it cannot be repeated."""
    seconds = []
    gc.collect()
    for item in items:
        start = time.process_time()
        call(item)
        seconds.append(time.process_time() - start)
    return Timing(tuple(seconds))


def resident_bytes() -> int:
    """The memory that this process occupies now."""
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def show_seconds(seconds: float) -> str:
    """Seconds with a unit that suits them."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds * 1e6:.1f} µs"
