"""Parts of an epoch: which rounds of a loop are saved before all of them are complete (§4.1).

What a round is worth is the time that it took: a second after the last checkpoint, or as the policy
says, the next one is due. While one is on its way, all wait, unless messages wait for it, too. Of
the rounds that have ended meanwhile the *roundest* is saved: the one whose number has the largest
power of two in it. Two neighbours can go back together only to a round that both have saved; one
that waits longer saves fewer rounds, but these are rounds that the other has saved as well. If
nobody ever has ``2**k`` rounds waiting, then every ``2**k``-th is saved by all.
"""

from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.frontier import TotalFrontier
from falkirk.core.machine.boundary import boundary
from falkirk.core.machine.state import State
from falkirk.core.times import INF, ProcessorId, Time


def part_due(state: State, p: ProcessorId, limit: int, saved: Any, flush: bool) -> Any | None:
    """What to save of the epochs up to ``limit`` besides ``saved``; None if nothing now."""
    standing, domain = state.standing[p], state.flow.graph.domains[p]
    assert isinstance(domain, Structured), "only a loop has rounds"
    part = standing.completed & boundary(domain, limit)
    if part <= saved:
        return None
    policy = state.flow.processors[p].policy
    if flush or policy.holds:
        return part
    early = not policy.clocked and state.now - standing.saved_at < policy.round_seconds
    return None if early or standing.tickets else roundest(domain, part, saved)


def landed(state: State, p: ProcessorId) -> None:
    """A checkpoint of ``p`` has become durable: rounds that waited for that may be due."""
    standing, domain = state.standing[p], state.flow.graph.domains[p]
    if standing.growth and isinstance(domain, Structured) and domain.depth > 1:
        state.progress.stale.add(p)


def roundest(domain: Structured, part: Any, saved: Any) -> Any:
    """What ``saved`` and the roundest rounds of ``part`` have together, which is more.

    >>> loop, inner = Structured(2), Structured(3)
    >>> [roundest(loop, TotalFrontier((5, n)), TotalFrontier((5, 2))) for n in (3, 4, 6, 9)]
    [↓(5, 3), ↓(5, 3), ↓(5, 3), ↓(5, 7)]
    >>> roundest(inner, TotalFrontier((5, 6, 1)), TotalFrontier((5, 3, INF)))
    ↓(5, 5, ∞)
    """
    times = [tuple(part)] if isinstance(part, TotalFrontier) else list(part.maximal)
    counts = [int(count) for time in times for count in time[1:] if count != INF]
    rounds = max(counts, default=0) + 1
    for place in range(1, domain.depth):
        for power in range(rounds.bit_length() - 1, -1, -1):
            lower = [rounded_down(time, place, power, domain.total) for time in times]
            rounder = domain.frontier([time for time in lower if time is not None])
            if not rounder <= saved:
                return rounder | saved
    return part


def rounded_down(time: Time, place: int, power: int, total: bool) -> Time | None:
    """The last time up to ``time`` that ends ``2**power`` rounds of the loop at ``place``, if any.

    >>> rounded_down((5, 9), 1, 2, True), rounded_down((5, 2), 1, 2, True)
    ((5, 7), None)
    >>> rounded_down((5, 7, 3), 1, 1, total=True), rounded_down((5, 7, 3), 1, 1, total=False)
    ((5, 5, inf), None)
    """
    count, inner = time[place], time[place + 1 :]
    whole = all(each == INF for each in inner)
    if count == INF:
        return time if whole else None
    rounds = int(count) + 1 if whole else int(count) if total else 0
    ended = rounds >> power << power
    return (*time[:place], ended - 1, *(INF,) * len(inner)) if ended else None
