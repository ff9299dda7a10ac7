"""The laws of orders, frontiers and projections, held against explicit finite sets of times.

On a grid whose largest coordinate ``FAR`` lies beyond every finite coordinate that is drawn, a
frontier is the finite set of grid points in it: FAR stands for all that is far away, and so for ∞.
"""

from functools import cache
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from falkirk.core import (
    EPOCH,
    INF,
    Custom,
    DefinitionError,
    Enter,
    Feedback,
    Identity,
    Leave,
    Order,
    ProductFrontier,
    Projection,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    SequenceOrder,
    Steps,
    Structured,
    TotalFrontier,
    adjoint_counterexample,
    counterexample,
    drop,
    keep,
    small_frontiers,
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

# Orders.


def times(depth: int) -> st.SearchStrategy:
    return st.tuples(*[st.integers(0, 3)] * depth)


@pytest.mark.parametrize("order", Order)
@given(data=st.data(), depth=st.integers(1, 3))
def test_structured_orders_are_lattices(order: Order, data: st.DataObject, depth: int) -> None:
    a, b, c = (data.draw(times(depth)) for _ in "abc")
    assert order.leq(a, a)
    assert not (order.leq(a, b) and order.leq(b, a)) or a == b
    assert not (order.leq(a, b) and order.leq(b, c)) or order.leq(a, c)
    for bound, below in ((order.meet(a, b), True), (order.join(a, b), False)):
        mine, theirs = (order.leq(bound, t) if below else order.leq(t, bound) for t in (a, b))
        assert mine
        assert theirs
        if below and order.leq(c, a) and order.leq(c, b):
            assert order.leq(c, bound)
        if not below and order.leq(a, c) and order.leq(b, c):
            assert order.leq(bound, c)
    assert order.meet(a, b) == order.meet(b, a)
    assert order.join(a, b) == order.join(b, a)


@given(times(2), times(2))
def test_the_lexicographic_order_is_total_and_extends_the_product_order(a: Any, b: Any) -> None:
    assert Order.LEX.leq(a, b) or Order.LEX.leq(b, a)
    assert not Order.PRODUCT.leq(a, b) or Order.LEX.leq(a, b)


def test_sequence_numbers_are_partially_ordered() -> None:
    order, numbers = SequenceOrder(), [SequenceNumber(e, n) for e in "de" for n in (1, 2, 3)]
    for a, b, c in product(numbers, repeat=3):
        assert order.leq(a, a)
        assert not (order.leq(a, b) and order.leq(b, a)) or a == b
        assert not (order.leq(a, b) and order.leq(b, c)) or order.leq(a, c)


# Frontiers.


@every_domain
@given(data=st.data())
def test_frontiers_are_sets(domain: Any, data: st.DataObject) -> None:
    f, g = data.draw(frontiers(domain)), data.draw(frontiers(domain))
    mine, theirs = as_set(domain, f), as_set(domain, g)
    assert (f <= g) == (mine <= theirs)
    assert as_set(domain, f & g) == mine & theirs
    assert as_set(domain, f | g) == mine | theirs
    assert (f == g) == (mine == theirs), "equal sets are equal values"
    assert f != g or hash(f) == hash(g)
    assert (f != g) == (mine != theirs)


@every_domain
@given(data=st.data())
def test_frontiers_form_a_distributive_lattice_with_units(domain: Any, data: st.DataObject) -> None:
    f, g, h = (data.draw(frontiers(domain)) for _ in "fgh")
    for meet, join, unit, zero in (
        (lambda a, b: a & b, lambda a, b: a | b, domain.top, domain.empty),
        (lambda a, b: a | b, lambda a, b: a & b, domain.empty, domain.top),
    ):
        assert meet(f, f) == f
        assert meet(f, g) == meet(g, f)
        assert meet(f, meet(g, h)) == meet(meet(f, g), h)
        assert meet(f, join(f, g)) == f
        assert meet(f, join(g, h)) == join(meet(f, g), meet(f, h))
        assert meet(f, unit) == f
        assert meet(f, zero) == zero
    assert (f <= g) == (f & g == f) == (f | g == g)
    assert domain.empty <= f <= domain.top
    assert f.is_empty == (f == domain.empty)
    assert f.is_top == (f == domain.top)
    assert type(f & g) is type(f | g) is type(f)


@every_domain
@given(data=st.data())
def test_frontiers_are_downward_closed(domain: Any, data: st.DataObject) -> None:
    members = as_set(domain, data.draw(frontiers(domain)))
    assert closed(domain, members) == members


@every_domain
@given(data=st.data())
def test_membership_agrees_with_the_closure_of_one_time(domain: Any, data: st.DataObject) -> None:
    f, t = data.draw(frontiers(domain)), data.draw(st.sampled_from(grid(domain)))
    single = (
        domain.frontier([t])
        if isinstance(domain, Structured)
        else SequenceFrontier({t.edge: t.number})
    )
    assert t in single
    assert (t in f) == (single <= f)


@given(st.lists(times(2)), st.lists(times(2)))
def test_the_representation_is_canonical(some: list, more: list) -> None:
    redundant = [tuple(map(min, a, b)) for a, b in product(some, some)]
    f, g = ProductFrontier(some), ProductFrontier([*redundant, *reversed(some)])
    assert f == g
    assert hash(f) == hash(g)
    assert f.maximal == g.maximal == tuple(sorted(f.maximal))
    assert all(not Order.PRODUCT.leq(a, b) for a in f.maximal for b in f.maximal if a != b)
    joined = f | ProductFrontier(more)
    assert joined == ProductFrontier(some + more)
    assert hash(joined) == hash(ProductFrontier(some + more))


def test_a_total_frontier_has_nothing_after_infinity() -> None:
    assert TotalFrontier((1, INF, 0)) == TotalFrontier((1, INF, INF))
    assert TotalFrontier((1, 0, INF)) != TotalFrontier((1, INF, INF))
    assert SequenceFrontier({"d": 0, "e": 2}) == SequenceFrontier({"e": 2})
    assert SequenceFrontier({"d": INF}, INF) == Sequence().top


@every_domain
@given(data=st.data())
def test_filtering_splits_in_two(domain: Any, data: st.DataObject) -> None:
    f = data.draw(frontiers(domain))
    items = [(t, i) for i, t in enumerate(grid(domain))]
    kept, dropped = keep(f, items), drop(f, items)
    assert sorted(kept + dropped, key=lambda item: item[1]) == items
    assert {t for t, _ in kept} == as_set(domain, f)


@given(data=st.data())
def test_the_parts_of_a_sequence_frontier(data: st.DataObject) -> None:
    domain = Sequence()
    f, edge = data.draw(frontiers(domain)), data.draw(st.sampled_from(EDGES))
    bound = data.draw(st.sampled_from([TotalFrontier(), *(TotalFrontier((n,)) for n in (1, 2))]))
    part = domain.part(f, edge)
    for n in range(1, FAR + 1):
        assert ((n,) in part) == (SequenceNumber(edge, n) in f)
    limited = domain.limited(f, edge, bound)
    others = [t for t in grid(domain) if t.edge != edge]
    assert domain.part(limited, edge) == part & bound
    assert [t in limited for t in others] == [t in f for t in others]


# Projections.


def sent_at(projection: Projection, time: tuple) -> tuple:
    """The time of a message that an event at ``time`` sends."""
    if isinstance(projection, Enter):
        return (*time, 0)
    if isinstance(projection, Leave):
        return time[:-1]
    if isinstance(projection, Feedback):
        return (*time[:-1], min(time[-1] + 1, FAR))
    return time


def fixed_times(projection: Any, members: frozenset) -> set:
    """φ as the design defines it, before it is cut to a frontier of the target."""
    if isinstance(projection, Enter):
        return {(*t, c) for t in members for c in range(FAR + 1)}
    if isinstance(projection, Leave):
        outer = {t[:-1] for t in members}
        return {t for t in outer if all((*t, c) in members for c in range(FAR + 1))}
    if isinstance(projection, Feedback):
        causes = Structured(projection.source.depth, Order.PRODUCT)
        return set(closed(causes, (sent_at(projection, t) for t in members)))
    return set(members)


@every_projection
@given(data=st.data())
def test_projections_equal_their_set_definitions(shape: Any, data: st.DataObject) -> None:
    projection = data.draw(st.sampled_from(PROJECTIONS[shape]))
    source, target = projection.source, projection.target
    frontier = data.draw(frontiers(source))
    members = as_set(source, frontier)
    fixed = interior(target, fixed_times(projection, members))
    assert as_set(target, projection.phi(frontier)) == fixed
    for t in grid(source):
        if t not in members and FAR not in t:
            assert sent_at(projection, t) not in fixed, "an event outside sends nothing fixed"
    sent = closed(target, (sent_at(projection, t) for t in members))
    if not frontier.is_top:
        assert as_set(target, projection.image(frontier)) == sent


@every_projection
@given(data=st.data())
def test_projections_are_monotone_and_adjoint(shape: Any, data: st.DataObject) -> None:
    projection = data.draw(st.sampled_from(PROJECTIONS[shape]))
    source, target = projection.source, projection.target
    f, g = data.draw(frontiers(source)), data.draw(frontiers(source))
    for grow in (projection.phi, projection.image):
        assert grow(f) <= grow(f | g)
        assert grow(source.empty) == target.empty
        assert grow(source.top) == target.top
    low, high = data.draw(frontiers(target)), data.draw(frontiers(target))
    assert projection.adjoint(low) <= projection.adjoint(low | high)
    assert projection.adjoint(target.top) == source.top
    assert (projection.image(f) <= low) == (f <= projection.adjoint(low)), "the adjoint law"
    assert projection.image(projection.adjoint(low)) <= low
    assert f <= projection.adjoint(projection.image(f))


@every_projection
def test_the_users_checks_find_nothing_wrong_with_the_built_in_ones(shape: Any) -> None:
    for projection in PROJECTIONS[shape]:
        wide = 2 if projection.source.depth + projection.target.depth < 5 else 1
        sources = small_frontiers(projection.source, 1, antichain=wide)
        targets = small_frontiers(projection.target, 1, antichain=wide)
        assert counterexample(projection, sources) is None
        assert adjoint_counterexample(projection, sources, targets) is None


@given(st.lists(st.integers(0, 4), min_size=7, max_size=7))
def test_the_users_check_finds_every_projection_that_is_not_monotone(values: list[int]) -> None:
    listed = small_frontiers(EPOCH, 4)
    table = dict(zip(listed, [TotalFrontier((n,)) for n in values], strict=True))
    found = counterexample(Custom(table.__getitem__), listed)
    assert (found is None) == all(a <= b for a, b in pairwise(values))
    largest_first = counterexample(Custom(table.__getitem__), reversed(listed))
    assert (largest_first is None) == (found is None), "in whatever order they are listed"
    if found is not None:
        assert found.law == "monotone"
        assert found.smaller <= found.larger
        assert not table[found.smaller] <= table[found.larger]


@pytest.mark.parametrize("order", Order)
def test_the_users_check_finds_one_wrong_pair_in_a_loop(order: Order) -> None:
    domain = Structured(2, order)
    wrong = domain.frontier([(1, 1)])

    def all_but_one(frontier: Any) -> Any:
        return domain.empty if frontier == wrong else frontier

    found = counterexample(Custom(all_but_one), small_frontiers(domain, 2))
    assert found is not None
    assert found.larger == wrong


@pytest.mark.parametrize("shift", [-1, 1])
def test_the_users_check_finds_an_adjoint_that_is_off_by_one(shift: int) -> None:
    def off(bound: Any) -> Any:
        moved = bound[0] + shift if bound else -1
        return TotalFrontier((moved,)) if moved >= 0 else TotalFrontier()

    wrong = Custom(lambda f: f, adjoint_of=off)
    listed = small_frontiers(EPOCH, 3)
    found = adjoint_counterexample(wrong, listed, listed)
    assert found is not None
    assert found.law == "adjoint"
    assert (
        adjoint_counterexample(Custom(lambda f: f, adjoint_of=lambda f: f), listed, listed) is None
    )


# Bridges.

growing = st.lists(st.integers(0, 9), max_size=5).map(sorted)
counts_of_one_edge = [SequenceFrontier({"e": n}) for n in range(11)]


def messages(count: float) -> TotalFrontier:
    """The first ``count`` messages of an edge; they are numbered from one."""
    return TotalFrontier((count,)) if count else TotalFrontier()


def parts_of_one_edge() -> list[TotalFrontier]:
    return [*map(messages, range(11)), messages(INF)]


@given(growing)
def test_epochs_forwarded_as_a_sequence(counts: list[int]) -> None:
    bridge = Steps.epoch_to_sequence(counts)
    listed, parts = small_frontiers(EPOCH, 6), parts_of_one_edge()
    assert counterexample(bridge, listed) is None
    assert adjoint_counterexample(bridge, listed, parts) is None
    for t, total in enumerate(counts):
        assert bridge.phi(TotalFrontier((t,))) == bridge.image(TotalFrontier((t,)))
        assert bridge.phi(TotalFrontier((t,))) == messages(total)
    for ends in (bridge.phi, bridge.image):
        assert ends(EPOCH.empty).is_empty
        assert ends(EPOCH.top).is_top


@given(growing)
def test_windows_of_a_sequence_as_epochs(bounds: list[int]) -> None:
    bridge = Steps.sequence_to_epoch("e", bounds)
    other = SequenceFrontier({"d": 2, "e": 3})
    listed = [*counts_of_one_edge, other, Sequence().top]
    assert counterexample(bridge, listed) is None
    assert adjoint_counterexample(bridge, listed, small_frontiers(EPOCH, 6)) is None
    for count, frontier in enumerate(counts_of_one_edge):
        closed_windows = [t for t, bound in enumerate(bounds) if bound <= count and count]
        assert bridge.phi(frontier) == EPOCH.frontier((t,) for t in closed_windows)
    for ends in (bridge.phi, bridge.image):
        assert ends(Sequence().empty).is_empty
        assert ends(Sequence().top).is_top


@given(growing)
def test_closing_steps_one_by_one_gives_the_same_table(counts: list[int]) -> None:
    bridge = Steps.epoch_to_sequence([])
    for t, total in enumerate(counts):
        bridge = bridge.closed(TotalFrontier((t,)), messages(total))
    assert bridge == Steps.epoch_to_sequence(counts)


def test_a_step_backwards_is_refused() -> None:
    bridge = Steps.epoch_to_sequence([3, 7])
    for frontier, fixed in (((0,), (9,)), ((2,), (6,))):
        with pytest.raises(DefinitionError, match="does not extend"):
            bridge.closed(TotalFrontier(frontier), TotalFrontier(fixed))
