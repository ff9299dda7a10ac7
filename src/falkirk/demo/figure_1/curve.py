"""How long users waited, second by second, as a line of blocks."""

from collections.abc import Sequence
from math import log10
from statistics import median

from rich.text import Text

from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.story import Failure

BLOCKS = "▁▂▃▄▅▆▇█"
LEAST, MOST = 0.02, 20.0
"""The waits that the lowest and the highest block stand for; in between it goes by powers."""


def curve(queries: Sequence[Query], failures: Sequence[Failure], now: float, width: int) -> Text:
    """The median of each second up to ``now``; red where something failed, blank without answers.

    A query counts in the second in which it was asked.
    """
    seconds: dict[int, list[float]] = {}
    for query in queries:
        age = int(now) - int(query.asked)
        if age < width:
            waited = query.seconds if query.seconds is not None else now - query.asked
            seconds.setdefault(age, []).append(waited)
    broken = {int(now) - int(failure.at) for failure in failures}
    line = Text()
    for age in range(width - 1, -1, -1):
        waits = seconds.get(age)
        block = height(median(waits)) if waits else ("·" if age in broken else " ")
        line.append(block, style="bold red" if age in broken else "cyan")
    return line


def height(seconds: float) -> str:
    """The block for a wait.

    >>> height(0.001), height(0.5), height(60.0)
    ('▁', '▄', '█')
    """
    share = log10(max(seconds, LEAST) / LEAST) / log10(MOST / LEAST)
    return BLOCKS[min(int(share * len(BLOCKS)), len(BLOCKS) - 1)]
