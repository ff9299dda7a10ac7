"""What each failure rolled back and what it kept, how long users waited, and the verdict."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.story import Failure, Latency, Story, shown

AFTER_SECONDS = 3.0
"""How long a failure counts, if nobody had to go back."""

NAMES_MAX = 4
WIDTH = 79
WRONG_MAX = 10
PROMINENT = ("with-rank", "once", "statistics", "ranks")
"""Processors that are named among those who kept their work."""

TYPICAL = ("views", "ranks", "circles", "once")
"""One of each regime: how far they went back is told."""


def closing(story: Story, queries: Sequence[Query]) -> Iterator[str]:
    """The summary, line by line."""
    for number, failure in enumerate(story.failures, start=1):
        yield f"{number}. {failure.what[0].upper()}{failure.what[1:]}"
        for line in told(failure):
            yield from wrap(line, WIDTH, initial_indent="   ", subsequent_indent="     ")
        yield ""
    yield from waits(story, queries)


def told(failure: Failure) -> Iterator[str]:
    """What came of one failure."""
    if failure.rollback is None:
        yield "Nobody had to go back: what was lost could be read or computed again."
        return
    yield went_back(failure)
    if how_far := distances(failure):
        yield f"How far: {how_far}."
    if failure.rollback["kept"]:
        yield kept(failure.rollback)
    if failure.over is not None:
        yield f"{shown(failure.over - failure.at)} later everybody was where they had been."
    else:
        yield "Not everybody was where they had been when the next thing happened."


def went_back(failure: Failure) -> str:
    """Who went back, in words."""
    moved, everybody = went(failure), (failure.rollback or {}).get("frontiers", {})
    if not moved:
        return "Nobody went back."
    if len(moved) == len(everybody):
        return f"All {len(moved)} were restored from the store, to what was durable there."
    names = ", ".join(moved[:NAMES_MAX])
    more = f" and {len(moved) - NAMES_MAX} more" if len(moved) > NAMES_MAX else ""
    return f"{len(moved)} of {len(everybody)} went back ({names}{more})."


def went(failure: Failure) -> list[str]:
    """Who went back."""
    frontiers = (failure.rollback or {}).get("frontiers", {})
    return sorted(p for p, f in frontiers.items() if f != "⊤")


def distances(failure: Failure) -> str:
    """From what was complete to what was left, for some who went back."""
    found = []
    for p in TYPICAL:
        before = failure.complete.get(p)
        after = (failure.rollback or {})["frontiers"].get(p, "⊤")
        if before is not None and after != "⊤":
            gone = numbers(after) < numbers(before)  # it may have gone on since the last look
            found.append(f"{p} from {before} to {after}" if gone else f"{p} not at all")
    return ", ".join(found)


def numbers(frontier: str) -> list[int]:
    """The times of a frontier as it was told, in their order.

    >>> numbers("↓(9)") < numbers("↓(33)"), numbers("∅")
    (True, [])
    """
    return [int(number) for number in re.findall(r"\d+", frontier)]


def kept(rollback: dict[str, Any]) -> str:
    """Who kept everything."""
    names = rollback["kept"]
    few = ", ".join(p for p in PROMINENT if p in names)
    return f"{len(names)} kept all their work{f', {few} among them' if few else ''}."


def waits(story: Story, queries: Sequence[Query]) -> Iterator[str]:
    """How long users waited before, during and after each failure, as a table.

    A query counts where it was asked.
    """
    yield f"{'How long users waited':34}{'queries':>8}{'median':>9}{'p99':>9}{'at most':>9}"
    moments = [failure.at for failure in story.failures] + [float("inf")]
    yield line("before anything failed", between(queries, 0.0, moments[0]))
    for number, failure in enumerate(story.failures, start=1):
        until = moments[number]
        over = over_at(failure, until)
        yield line(f"{number}. until all were back", between(queries, failure.at, over))
        yield line("   and then", between(queries, over, until))
    yield "  (counted where they were asked: who asked just before a kill waited through it)"


def measured(
    story: Story, queries: Sequence[Query], wrong: Sequence[str], checked: int
) -> dict[str, Any]:
    """The summary and the verdict as plain values; waits are in seconds."""
    moments = [failure.at for failure in story.failures] + [float("inf")]
    failures = []
    for number, failure in enumerate(story.failures, start=1):
        over, moved = over_at(failure, moments[number]), went(failure)
        everybody = (failure.rollback or {}).get("frontiers") or failure.complete
        failures.append(
            {
                "what": failure.what,
                "went_back": moved,
                "kept": sorted(set(everybody) - set(moved)),
                "seconds": None if failure.over is None else failure.over - failure.at,
                "during": wait(between(queries, failure.at, over)),
                "after": wait(between(queries, over, moments[number])),
            }
        )
    return {
        "queries": len(queries),
        "asked_again": sum(q.attempts > 1 for q in queries),
        "before": wait(between(queries, 0.0, moments[0])),
        "failures": failures,
        "checked": checked,
        "as_without_failures": not wrong,
        "wrong": list(wrong),
    }


def over_at(failure: Failure, until: float) -> float:
    """When a failure was over: at the next one at the latest."""
    return min(failure.over or failure.at + AFTER_SECONDS, until)


def wait(queries: Sequence[Query]) -> dict[str, Any] | None:
    """How long users waited; None if nobody was answered."""
    found = Latency.of(queries)
    return None if found is None else asdict(found)


def between(queries: Sequence[Query], start: float, end: float) -> list[Query]:
    """The queries that were asked from ``start`` up to ``end``."""
    return [q for q in queries if start <= q.asked < end]


def line(name: str, queries: Sequence[Query]) -> str:
    """One line of the table."""
    found = Latency.of(queries)
    if found is None:
        return f"  {name:32}{'none':>8}"
    numbers = "".join(f"{shown(each):>9}" for each in (found.median, found.p99, found.most))
    return f"  {name:32}{found.queries:>8,}{numbers}"


def verdict_lines(wrong: Sequence[str], queries: Sequence[Query]) -> Iterator[str]:
    """The verdict in words."""
    again = sum(q.attempts > 1 for q in queries)
    if not wrong:
        yield "Verdict: as without failures."
        yield f"  {len(queries):,} queries, each answered once and rightly;"
        yield f"  {again:,} of them were asked again, after an error;"
        yield "  for each a row in the database, which says the same."
        return
    things = "one thing is" if len(wrong) == 1 else f"{len(wrong):,} things are"
    yield f"Verdict: NOT as without failures: {things} wrong."
    for each in wrong[:WRONG_MAX]:
        yield from wrap(each, WIDTH, initial_indent="  ", subsequent_indent="    ")
    if len(wrong) > WRONG_MAX:
        yield f"  and {len(wrong) - WRONG_MAX:,} more"
