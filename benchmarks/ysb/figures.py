"""The figures: how final-event latency is distributed, in steady state and around a failure."""

from collections.abc import Callable

from benchmarks.harness.plots import Figure, Lines
from benchmarks.harness.spread import quantile
from benchmarks.ysb.contenders import Contender
from benchmarks.ysb.outcome import Run

PERCENTS = (0, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)


def figures(everybody: list[Contender], found: dict[str, list[Run]]) -> list[Figure]:
    """A curve for each contender: the latency that so many percent do not exceed."""
    alone = [each for each in everybody if not each.worker]
    several = [each for each in everybody if each.worker]
    steady = curves(alone, found, lambda run: run.final)
    failing = curves(alone, found, lambda run: run.failing)
    losing = curves(several, found, lambda run: run.failing)
    x, y = "percent of campaigns and windows", "final-event latency, ms"
    drawn = [
        Lines("latency", "Final-event latency in steady state", x, y, steady, "y"),
        Lines("failure", "Final-event latency when the whole process fails", x, y, failing, "y"),
        Lines("worker", "Final-event latency when one worker of two fails", x, y, losing, "y"),
    ]
    return [figure for figure in drawn if figure.series]


def curves(
    everybody: list[Contender],
    found: dict[str, list[Run]],
    part: Callable[[Run], tuple[float, ...]],
) -> dict[str, list[tuple[float, float]]]:
    """Quantiles over all runs."""
    drawn = {}
    for each in everybody:
        values = [seconds * 1e3 for run in found.get(each.name, []) for seconds in part(run)]
        if values:
            points = [(percent, quantile(values, percent / 100)) for percent in PERCENTS]
            drawn[f"{each.name} ({each.guarantee})"] = points
    return drawn
