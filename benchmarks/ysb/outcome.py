"""What a run amounts to: latencies, the recovery, and whether the counts are right."""

from collections import Counter
from dataclasses import dataclass

from benchmarks.ysb.observer import Observer, Shown
from benchmarks.ysb.stream import Key, Piece


@dataclass(frozen=True)
class Live:
    """The steady stream as it went: its files, when each was visible, the first and the failing
    window, when the contender was killed, and from when on what it shows comes after that."""

    stream: list[Piece]
    emitted: dict[int, float]
    windows_ms: tuple[int, int]
    killed: float
    gone: float


@dataclass(frozen=True)
class Run:
    """What was measured, all in seconds: of the backlogs the middle one.

    ``final`` has for each campaign and window of the steady part the time from the last view that
    was emitted to the final count that was visible; ``failing`` the same for the window of the
    failure; ``files`` for each file of the steady part the time until all its views were counted.
    ``around`` is that time for each file of the window of the failure, beside when the file was
    there, from the kill on. ``repeated`` is how many results were shown that said no more than an
    earlier one had said.
    """

    start: float
    backlog: float
    final: tuple[float, ...]
    failing: tuple[float, ...]
    files: tuple[float, ...]
    around: tuple[tuple[float, float], ...]
    first_after_kill: float | None
    too_low: int
    too_high: int
    groups: int
    repeated: int

    @property
    def right(self) -> bool:
        """Whether all counts were right in the end."""
        return not self.too_low and not self.too_high


def outcome(
    live: Live, observer: Observer, right: Counter[Key], start: float, backlog: float
) -> Run:
    """Adds up what was seen."""
    first, failing = live.windows_ms
    finals = final_latencies(live, observer.rows)
    files = file_latencies(live, observer.rows)
    last = observer.latest
    return Run(
        start,
        backlog,
        tuple(seconds for key, seconds in finals.items() if first <= key[1] < failing),
        tuple(seconds for key, seconds in finals.items() if key[1] == failing),
        tuple(seconds for piece, seconds in files if first <= piece.begin_ms < failing),
        tuple(
            (live.emitted[piece.number] - live.killed, seconds)
            for piece, seconds in files
            if piece.begin_ms >= failing
        ),
        first_after(live, observer.rows),
        sum(last.get(key, 0) < count for key, count in right.items()),
        sum(last.get(key, 0) > count for key, count in right.items()),
        len(right),
        repeated(observer.rows),
    )


def final_latencies(live: Live, rows: list[Shown]) -> dict[Key, float]:
    """For each group: from its last view that is emitted to its final count that is visible.

    A group whose final count is never shown is left out; it is counted among the wrong ones.
    """
    counts: Counter[Key] = Counter()
    emitted: dict[Key, float] = {}
    for piece in live.stream:
        for key, count in piece.views().items():
            counts[key] += count
            emitted[key] = live.emitted[piece.number]
    shown: dict[Key, float] = {}
    for row in rows:
        if row.count == counts.get(row.key):
            shown.setdefault(row.key, row.seconds)
    return {key: shown[key] - emitted[key] for key in counts if key in shown}


def file_latencies(live: Live, rows: list[Shown]) -> list[tuple[Piece, float]]:
    """For each file: until as many views are counted as it ends with.

    A file whose views are never counted is left out.
    """
    known = {key for piece in live.stream for key in piece.views()}
    best: Counter[Key] = Counter()
    total, reached = 0, list[tuple[int, float]]()
    for row in rows:
        if row.key in known and row.count > best[row.key]:
            total += row.count - best[row.key]
            best[row.key] = row.count
            reached.append((total, row.seconds))
    found, views, at = list[tuple[Piece, float]](), 0, 0
    for piece in live.stream:
        views += sum(piece.views().values())
        while at < len(reached) and reached[at][0] < views:
            at += 1
        if at < len(reached):
            found.append((piece, reached[at][1] - live.emitted[piece.number]))
    return found


def first_after(live: Live, rows: list[Shown]) -> float | None:
    """Seconds from the kill to the first count that is higher than all that were shown of it."""
    best: Counter[Key] = Counter()
    for row in rows:
        if row.seconds > live.gone and row.count > best[row.key]:
            return row.seconds - live.killed
        best[row.key] = max(best[row.key], row.count)
    return None


def repeated(rows: list[Shown]) -> int:
    """How many results said no more than an earlier one of their group."""
    best: Counter[Key] = Counter()
    found = 0
    for row in rows:
        found += row.count <= best[row.key]
        best[row.key] = max(best[row.key], row.count)
    return found
