"""The figure: how long queries took around the failures."""

from math import floor

from benchmarks.figure_1.outcome import Run
from benchmarks.harness.plots import Figure, Lines

BEFORE_SECONDS = 20


def figures(found: dict[str, list[Run]]) -> list[Figure]:
    """The slowest query of each second, of each contender's first run."""
    series = {name: slowest(runs[0]) for name, runs in found.items()}
    title = "The slowest query asked in each second; three failures at 0"
    return [Lines("queries", title, "seconds from the failures", "seconds", series, "y")]


def slowest(run: Run) -> list[tuple[float, float]]:
    """The longest wait of each second, from a while before the failures on."""
    seconds: dict[int, float] = {}
    for at, wait in run.around:
        if at >= -BEFORE_SECONDS:
            seconds[floor(at)] = max(wait, seconds.get(floor(at), 0.0))
    return [(float(second), wait) for second, wait in sorted(seconds.items())]
