"""Folded state of several times made into one: where no event to come can tell the times apart.

The times at which there can still be events lie at or after some minimal ones. In each coordinate
there is a least value that such a time can have. What lies below it is past: at or before every
event, and never at the same coordinate as one. So all smaller values mean the same, and one of
them, the last, stands for all.

Differential dataflow merges a little more, at times which may be those of events to come. Here a
time that is past must be seen to be: what came at (3, 5) and at (4, 2) meets at (4, 5), and so it
matters at (4, 5) that the former did not come in epoch 4.
"""

from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.machine.events import Collect, Compacted, Effect
from falkirk.core.machine.flow import Batch
from falkirk.core.machine.state import State
from falkirk.core.order import least, product_leq
from falkirk.core.reorder import spread
from falkirk.core.times import INF, ProcessorId, Time

Entry = tuple[Any, Batch]
Group = tuple[Any, tuple[Entry, ...]]


def compactable(state: State, p: ProcessorId) -> list[Group]:
    """Groups of two or more entries of folded state, each with its representative time."""
    ledger, domain = state.ledgers[p], state.flow.graph.domains[p]
    entries = ledger.base.state
    if len(entries) < 2:
        return []
    if not isinstance(domain, Structured):
        return [(entries[-1][0], tuple(entries))]
    askable = least_outside(domain, ledger.base.frontier)
    if not askable:
        return []
    if state.flow.processors[p].policy.replays:  # what was logged and not folded may run again
        askable = least(askable + list(ledger.records))
    floor = floor_of(askable)
    groups: dict[Time, list[Entry]] = {}
    for time, batch in entries:
        groups.setdefault(representative(time, floor), []).append((time, batch))
    return [(time, tuple(group)) for time, group in groups.items() if len(group) > 1]


def floor_of(askable: list[Time]) -> Time:
    """The least value of each coordinate among times to come, all of which are after some given.

    >>> floor_of([(1, 4), (2, 0)])
    (1, 0)
    """
    return tuple(min(values) for values in zip(*askable, strict=True))


def representative(time: Time, floor: Time) -> Time:
    """The last past time that events at or after ``floor`` cannot tell from ``time``.

    >>> [representative(time, (3, 0)) for time in ((0, 5), (2, 5), (3, 5))]
    [(2, 5), (2, 5), (3, 5)]
    """
    return tuple(max(value, least - 1) for value, least in zip(time, floor, strict=True))


def least_outside(domain: Structured, frontier: Any) -> list[Time]:
    """The least times, in product order, that do not lie in ``frontier``.

    >>> from falkirk.core.frontier import TotalFrontier
    >>> least_outside(Structured(2), TotalFrontier((1, 3)))
    [(1, 4), (2, 0)]
    """
    found: list[Time] = [(0,) * domain.depth]
    for top in spread(domain, frontier):
        beyond = [
            (*time[:i], top[i] + 1, *time[i + 1 :]) if product_leq(time, top) else time
            for time in found
            for i in range(domain.depth)
            if top[i] < INF
        ]
        found = least(beyond)
    return found


def compact(state: State, event: Compacted) -> list[Effect]:
    """Puts the new entries in the place of the old ones, and tells the store."""
    base = state.ledgers[event.processor].base
    taken = {(time, id(batch)) for time, batch in event.taken}
    places = [i for i, (time, batch) in enumerate(base.state) if (time, id(batch)) in taken]
    if not places or len(places) != len(event.taken):
        return []
    left = [entry for i, entry in enumerate(base.state) if i not in set(places)]
    base.state = [*left[: places[0]], *event.put, *left[places[0] :]]
    return [Collect(event.processor, base.frontier, (), tuple(base.state))]
