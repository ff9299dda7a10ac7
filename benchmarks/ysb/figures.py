"""The figures: how latency is distributed, and how it goes on through a failure."""

from collections import defaultdict
from collections.abc import Callable

from benchmarks.harness.plots import Figure, Lines
from benchmarks.harness.spread import median, quantile
from benchmarks.ysb.contenders import Contender, of_two
from benchmarks.ysb.outcome import Run

STEP_SECONDS = 0.5
"""So much of the stream is one point of a curve through a failure."""

PERCENTS = (0, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)


def figures(everybody: list[Contender], found: dict[str, list[Run]]) -> list[Figure]:
    """A curve for each contender: the latency that so many percent do not exceed; latency by time.

    The files of a steady part come ten a second, so that theirs is the distribution with most
    values that are independent of each other.
    """
    alone = [each for each in everybody if not each.worker]
    several = [each for each in everybody if each.worker]
    final, file = "final-event latency, ms", "a file until it is counted, ms"
    windows, files = "percent of campaigns and windows", "percent of files"
    kill = "seconds after the kill"
    drawn = [
        Lines("latency", "Final-event latency in steady state", windows, final,
              curves(alone, found, lambda run: run.final), "y"),
        Lines("files", "Latency of files in steady state", files, file,
              curves(alone, found, lambda run: run.files), "y"),
        Lines("failure", "When the whole process fails", kill, file, courses(alone, found), "y"),
        Lines("worker", "When one worker of two fails", kill, file, courses(several, found), "y"),
        Lines("worker-final", "Final-event latency when one worker of two fails", windows, final,
              curves(several, found, lambda run: run.failing), "y"),
    ]  # fmt: skip
    return [figure for figure in drawn if figure.series]


Curve = list[tuple[float, float]]


def curves(
    everybody: list[Contender],
    found: dict[str, list[Run]],
    part: Callable[[Run], tuple[float, ...]],
) -> dict[str, Curve]:
    """Quantiles over all runs."""
    drawn = {}
    for each in everybody:
        values = [seconds * 1e3 for run in found.get(each.name, []) for seconds in part(run)]
        if values:
            points = [(percent, quantile(values, percent / 100)) for percent in PERCENTS]
            drawn[label(each)] = points
    return drawn


def courses(everybody: list[Contender], found: dict[str, list[Run]]) -> dict[str, Curve]:
    """Of the files that came in each half second around the kill, the median over all runs."""
    drawn = {}
    for each in everybody:
        steps = defaultdict[float, list[float]](list)
        for run in found.get(each.name, []):
            for moment, seconds in run.around:
                steps[moment // STEP_SECONDS * STEP_SECONDS].append(seconds * 1e3)
        if steps:
            points = [(moment, median(steps[moment])) for moment in sorted(steps)]
            drawn[label(each)] = points
    return drawn


def label(contender: Contender) -> str:
    """What a curve is called; how many workers there are, the title of the figure says."""
    return f"{contender.name.removesuffix(of_two(''))} ({contender.guarantee})"
