"""Folded state of several times made into one: where no event to come can tell the times apart.

An event at x sees the state of the times t ≤ x. The times at which there can still be events lie at
or after some minimal ones, f. Among those, t ≤ x says the same as join(t, f) ≤ x, so t may be
replaced by the meet of all join(t, f), and equal representatives cannot be told apart. The rule is
differential dataflow's.

The representative itself may be a time to come. What is merged gets the join of its own times
instead, which says the same and is past: at (2, 5) one must still see that nothing came at (2, 5).
"""

from collections.abc import Iterable
from functools import reduce
from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.machine.events import Collect, Compacted, Effect
from falkirk.core.machine.flow import Batch
from falkirk.core.machine.state import State
from falkirk.core.order import Order, product_leq
from falkirk.core.reorder import spread
from falkirk.core.times import INF, ProcessorId, Time

Entry = tuple[Any, Batch]
Group = tuple[Any, tuple[Entry, ...]]


def compactable(state: State, p: ProcessorId) -> list[Group]:
    """Groups of two or more entries of folded state, each with a time for all of them."""
    ledger, domain = state.ledgers[p], state.flow.graph.domains[p]
    entries = ledger.base.state
    if len(entries) < 2:
        return []
    if not isinstance(domain, Structured):
        return [(entries[-1][0], tuple(entries))]
    askable = least_outside(domain, ledger.base.frontier)
    if state.flow.processors[p].policy.replays:  # what was logged and not folded may run again
        askable = least(askable + list(ledger.records))
    groups = [
        (time, tuple(entry for entry in entries if entry[0] in times))
        for time, times in merged((time for time, _ in entries), askable, ledger.base.frontier)
    ]
    return [(time, group) for time, group in groups if len(group) > 1]


def merged(
    times: Iterable[Time], askable: list[Time], frontier: Any
) -> list[tuple[Time, set[Time]]]:
    """Sets of ``times`` that nobody tells apart, each with its join, as far as that is past."""
    groups: dict[Time, set[Time]] = {}
    for time in times:
        groups.setdefault(representative(time, askable), set()).add(time)
    joined = [(reduce(Order.PRODUCT.join, group), group) for group in groups.values()]
    return [(time, group) for time, group in joined if time in frontier]


def representative(time: Time, askable: list[Time]) -> Time:
    """The latest time that the ``askable`` times and later ones cannot tell from ``time``.

    >>> representative((0, 5), [(1, 4), (2, 0)]), representative((1, 2), [(1, 4), (2, 0)])
    ((1, 5), (1, 2))
    >>> representative((0, 1), [(1, 4), (2, 0)])
    (1, 1)
    """
    joined = [Order.PRODUCT.join(time, f) for f in askable]
    return reduce(Order.PRODUCT.meet, joined) if joined else time


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


def least(times: list[Time]) -> list[Time]:
    """The minimal ones of ``times`` in product order."""
    return [
        time
        for time in sorted(set(times))
        if not any(other != time and product_leq(other, time) for other in times)
    ]


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
