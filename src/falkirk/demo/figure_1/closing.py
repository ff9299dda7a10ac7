"""What each failure rolled back and what it kept, how long users waited, and the verdict."""

from collections.abc import Iterator, Sequence
from typing import Any

from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.story import Failure, Latency, Story, shown

AFTER_SECONDS = 3.0
"""How long a failure counts, if nobody had to go back."""


def closing(story: Story, queries: Sequence[Query]) -> Iterator[str]:
    """The summary, line by line."""
    first = story.failures[0].at if story.failures else float("inf")
    before = [q for q in queries if q.asked < first]
    yield f"Before anything failed, users waited {Latency.of(before) or 'for no answer'}."
    for number, failure in enumerate(story.failures):
        following = [each.at for each in story.failures[number + 1 :]]
        yield ""
        yield from told(failure, queries, min(following, default=float("inf")))


def told(failure: Failure, queries: Sequence[Query], until: float) -> Iterator[str]:
    """One failure."""
    yield f"When {failure.what}:"
    rollback = failure.rollback
    if rollback is None:
        yield "  nobody had to go back; what was lost could be read or computed again."
    else:
        yield f"  {went_back(rollback)}"
        yield f"  {kept(rollback)}"
    over = failure.over or failure.at + AFTER_SECONDS
    if rollback is not None and failure.over is not None:
        yield f"  {shown(failure.over - failure.at)} later everybody was where they had been."
    during = Latency.of([q for q in queries if failure.at <= q.asked < over])
    after = Latency.of([q for q in queries if over <= q.asked < until])
    yield f"  Meanwhile users waited {during or 'for no answer'}; then {after or 'for no answer'}."


def went_back(rollback: dict[str, Any]) -> str:
    """Who went back, and how far."""
    moved = {p: f for p, f in rollback["frontiers"].items() if f != "⊤"}
    undone = {p: n for p, n in rollback["undone"].items() if n}
    if not moved:
        return "Nobody went back."
    most = max(undone.values(), default=0)
    again = f"at most {most} epochs are done again" if most else "no epoch had to be done again"
    names = sorted(moved)
    shown_names = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return f"{len(moved)} of {len(rollback['frontiers'])} went back ({shown_names}): {again}."


def kept(rollback: dict[str, Any]) -> str:
    """Who kept everything."""
    names = rollback["kept"]
    if not names:
        return "All went on from what was durable."
    few = ", ".join(p for p in ("with-rank", "once", "statistics", "ranks") if p in names)
    return f"{len(names)} kept all their work{f', {few} among them' if few else ''}."


def verdict_lines(wrong: Sequence[str], queries: Sequence[Query], rows: int) -> Iterator[str]:
    """The verdict in words."""
    again = sum(q.attempts > 1 for q in queries)
    if not wrong:
        yield (
            f"Verdict: as without failures. {len(queries)} queries ({again} asked again after"
            f" an error), each answered once and rightly; {rows} rows in the database, which say"
            " the same."
        )
        return
    yield f"Verdict: NOT as without failures. {len(wrong)} things are wrong:"
    yield from (f"  {each}" for each in wrong[:10])
