"""Finite sets of times, against which frontiers and projections are held.

On a grid whose largest coordinate ``FAR`` lies beyond every finite coordinate that is drawn, a
frontier is the finite set of grid points in it: FAR stands for all that is far away, and so for ∞.
"""

from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st

from falkirk.core import (
    INF,
    Enter,
    Feedback,
    Identity,
    Leave,
    Order,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    SequenceOrder,
    Structured,
)

FAR = 3
EDGES = ("d", "e", "unnamed")
DOMAINS = [
    *(Structured(depth, order) for depth in (1, 2, 3) for order in Order),
    Sequence(),
]
# Every built-in projection between depths 1 to 3, each between all combinations of the two orders.
SHAPES = [
    *((Identity, depth, depth) for depth in (1, 2, 3)),
    *((Enter, depth, depth + 1) for depth in (1, 2)),
    *((Leave, depth + 1, depth) for depth in (1, 2)),
    *((Feedback, depth, depth) for depth in (2, 3)),
]
PROJECTIONS = {
    (kind.name, here, there): [
        kind(Structured(here, order), Structured(there, other))
        for order, other in product(Order, Order)
    ]
    for kind, here, there in SHAPES
}


@cache
def grid(domain: Any) -> list[Any]:
    """Finitely many times that tell all the drawn frontiers of ``domain`` apart."""
    if isinstance(domain, Structured):
        return list(product(range(FAR + 1), repeat=domain.depth))
    return [SequenceNumber(e, n) for e in EDGES for n in range(1, FAR + 1)]


def leq(domain: Any, left: Any, right: Any) -> bool:
    if isinstance(domain, Structured):
        return domain.order.leq(left, right)
    return SequenceOrder().leq(left, right)


def as_set(domain: Any, frontier: Any) -> frozenset:
    return frozenset(t for t in grid(domain) if t in frontier)


def closed(domain: Any, times: Any) -> frozenset:
    """↓ of a set of grid points.

    In lexicographic order ever larger counters pass everything that follows them, so after FAR
    comes FAR.
    """
    chosen = list(times)
    if isinstance(domain, Structured) and domain.order is Order.LEX:
        chosen = [
            (*t[: t.index(FAR)], *[FAR] * (len(t) - t.index(FAR))) if FAR in t else t
            for t in chosen
        ]
    return frozenset(t for t in grid(domain) if any(leq(domain, t, top) for top in chosen))


def interior(domain: Any, times: Any) -> frozenset:
    """The largest frontier inside a set of grid points."""
    chosen = set(times)
    missing = [t for t in grid(domain) if t not in chosen]
    return frozenset(t for t in chosen if not any(leq(domain, gap, t) for gap in missing))


def frontiers(domain: Any) -> st.SearchStrategy:
    """∅, ⊤ and frontiers of up to three maximal times, some of them with ∞."""
    if isinstance(domain, Structured):
        counter = st.sampled_from([0, 1, INF])
        times = st.tuples(st.integers(0, 2), *[counter] * (domain.depth - 1))
        some = st.lists(times, max_size=3).map(domain.frontier)
        return st.one_of(some, st.just(domain.top), st.just(domain.empty))
    counts = st.dictionaries(st.sampled_from(EDGES[:2]), st.sampled_from([0, 1, 2, INF]))
    return st.builds(SequenceFrontier, counts, st.sampled_from([0, 0, INF]))


every_domain = pytest.mark.parametrize("domain", DOMAINS, ids=repr)
every_projection = pytest.mark.parametrize("shape", PROJECTIONS, ids=repr)


def times(depth: int) -> st.SearchStrategy:
    return st.tuples(*[st.integers(0, 3)] * depth)
