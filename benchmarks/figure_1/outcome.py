"""What a run comes to: how long queries and inputs took, steady and through the failures."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.harness.spread import median
from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.story import Story

WINDOW_SECONDS = 2.0
"""Over how long a median is taken to say when queries are as quick as before."""

TOLERANCE = 1.5
"""So many times the highest median of the steady part counts as before.

Of two parts that are equally long and alike, the second has a higher one every other time.
"""

Waits = list[tuple[float, float]]
"""Of queries or epochs: when each began, and how many seconds it took."""


@dataclass(frozen=True, slots=True)
class Moments:
    """When the steady part began and ended, when things failed, and when it was over."""

    began: float
    ended: float
    failed: float
    over: float


@dataclass(slots=True)
class Epochs:
    """When each epoch of records was admitted first, and when it was stable."""

    admitted: dict[int, float] = field(default_factory=dict)
    stable: dict[int, float] = field(default_factory=dict)

    @classmethod
    def read(cls, admitted: Path, events: Path) -> "Epochs":
        """From what the process wrote down."""
        found = cls()
        for line in admitted.read_text("ascii").splitlines():
            epoch, at = line.split()
            found.admitted.setdefault(int(epoch), float(at))
        for told in map(json.loads, events.read_text("utf-8").splitlines()):
            if told["what"] == "stable":
                found.reach(told["epoch"], told["at"])
        return found

    def reach(self, epoch: int, at: float) -> None:
        """All epochs up to ``epoch`` are stable ``at`` a moment, if they were not before."""
        for each in range(max(self.stable, default=-1) + 1, epoch + 1):
            self.stable[each] = at

    def waits(self) -> Waits:
        """From being admitted to being stable, of all that are."""
        return [(at, self.stable[e] - at) for e, at in self.admitted.items() if e in self.stable]


@dataclass(frozen=True, slots=True)
class Redone:
    """Who went back: how many of how many, by how many epochs at most, and rows processed again.

    ``seconds`` is how long it took until everybody was where they had been, if they ever were.
    """

    went_back: int
    processors: int
    epochs: int
    rows: int
    seconds: float | None

    @classmethod
    def of(cls, story: Story) -> "Redone":
        """What the process told of its failure."""
        failure = story.failures[-1]
        rollback: dict[str, Any] = failure.rollback or {"frontiers": {}, "undone": {}}
        frontiers = rollback["frontiers"]
        return cls(
            sum(frontier != "⊤" for frontier in frontiers.values()),
            len(frontiers),
            max(rollback["undone"].values(), default=0),
            story.progress["replayed"],
            None if failure.over is None else failure.over - failure.at,
        )


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one run, in seconds.

    ``queries`` and ``inputs`` are of the steady part, the peaks the longest waits of those that
    failures met or that came after. ``back`` is when queries were as quick as before. ``around``
    has all queries, by the seconds from the failures to their asking.
    """

    queries: tuple[float, ...]
    inputs: tuple[float, ...]
    query_peak: float
    input_peak: float
    back: float
    redone: Redone
    around: Waits

    @classmethod
    def of(cls, moments: Moments, queries: Sequence[Query], epochs: Epochs, story: Story) -> "Run":
        """What was seen of one run."""
        asked = [(q.asked, q.seconds) for q in queries if q.seconds is not None]
        steady = between(asked, moments.began, moments.ended)
        if not steady:
            raise RuntimeError("no query was answered in the steady part: make it longer")
        return cls(
            tuple(seconds for _, seconds in steady),
            tuple(s for _, s in between(epochs.waits(), moments.began, moments.ended)),
            peak(asked, moments),
            peak(epochs.waits(), moments),
            until_as_before(steady, touched(asked, moments), moments.failed),
            Redone.of(story),
            [(at - moments.failed, seconds) for at, seconds in asked],
        )


def between(waits: Waits, start: float, end: float) -> Waits:
    """Those that began from ``start`` up to ``end``."""
    return [(at, seconds) for at, seconds in waits if start <= at < end]


def touched(waits: Waits, moments: Moments) -> Waits:
    """Those that were not over when things failed, or that began later, while it is looked at."""
    return [
        (at, seconds)
        for at, seconds in waits
        if moments.began <= at < moments.over and at + seconds > moments.failed
    ]


def peak(waits: Waits, moments: Moments) -> float:
    """The longest wait of those that failures met, and of those after them."""
    return max((seconds for _, seconds in touched(waits, moments)), default=0.0)


def until_as_before(steady: Waits, later: Waits, failed: float) -> float:
    """Seconds from the failures until queries are as quick as before.

    That is when the last one is answered of those whose median, over a window from the asking of
    each on, is well above the highest such median of the steady part.
    """
    usual = TOLERANCE * max((seconds for _, seconds in medians(steady)), default=0.0)
    slow = {at for at, seconds in medians(later) if seconds > usual}
    return max((at + seconds - failed for at, seconds in later if at in slow), default=0.0)


def medians(waits: Iterable[tuple[float, float]]) -> Waits:
    """The median of a window that begins with each, where there is a whole window."""
    ordered = sorted(waits)
    return [
        (start, median([s for _, s in between(ordered, start, start + WINDOW_SECONDS)]))
        for start, _ in ordered
        if start + WINDOW_SECONDS <= ordered[-1][0]
    ]
