"""Figures of a report, as SVG: on white, so that they can be printed and read on dark pages.

Lines differ by colour and by mark, so nobody has to tell colours apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.spread import median

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00")
MARKS = ("o", "s", "^", "D", "v", "x")
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "falkirk",
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
}


@dataclass(frozen=True)
class Lines:
    """Points by series; ``log`` names the axes that are logarithmic, such as ``"xy"``."""

    name: str
    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    log: str = ""

    height = 4.0

    def draw(self, axes: Any) -> None:
        """Draws a line a series."""
        for number, (label, points) in enumerate(self.series.items()):
            axes.plot(*zip(*points, strict=True), label=label, **look(number), markersize=4)
        axes.set_xlabel(self.x)
        if "x" in self.log:
            axes.set_xscale("log")
        if "y" in self.log:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)


Bar = tuple[float, float, float]
"""A value, with the least and the greatest that it was."""


def bar(values: Sequence[float]) -> Bar:
    """The median, with the least and the greatest."""
    return median(values), min(values), max(values)


@dataclass(frozen=True)
class Bars:
    """For each category a bar of every series, lying; each value with the least and the most."""

    name: str
    title: str
    y: str
    series: Mapping[str, Mapping[str, Bar]]
    log: str = ""

    @property
    def height(self) -> float:
        """Inches: as high as it takes."""
        return 1.4 + 0.2 * sum(map(len, self.series.values()))

    def draw(self, axes: Any) -> None:
        """Draws the bars, the first category on top."""
        categories = list(dict.fromkeys(c for each in self.series.values() for c in each))
        height = 0.8 / len(self.series)
        for number, (label, found) in enumerate(self.series.items()):
            places = [categories.index(c) + (number + 0.5) * height - 0.4 for c in found]
            values = [value for value, _, _ in found.values()]
            errors = [
                [max(0.0, value - low) for value, low, _ in found.values()],
                [max(0.0, high - value) for value, _, high in found.values()],
            ]
            colour = COLOURS[number % len(COLOURS)]
            axes.barh(places, values, height, label=label, color=colour, xerr=errors, ecolor="#555")
        axes.set_yticks(range(len(categories)), categories)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        if self.log:
            axes.set_xscale("log")


Figure = Lines | Bars


def look(number: int) -> dict[str, Any]:
    """How the line of a series looks."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)]}


def draw(figure: Figure, path: Path) -> Path:
    """Writes a figure."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    with matplotlib.rc_context(STYLE):
        drawn, axes = pyplot.subplots(figsize=(7.2, figure.height), layout="constrained")
        figure.draw(axes)
        axes.set_title(figure.title, loc="left", fontsize=11)
        if isinstance(figure, Bars):
            axes.set_xlabel(figure.y)
        else:
            axes.set_ylabel(figure.y)
        if len(figure.series) > 1:
            drawn.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
        drawn.savefig(path, format="svg", facecolor="white", metadata={"Date": None})
        pyplot.close(drawn)
    return path
