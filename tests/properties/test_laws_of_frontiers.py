"""The laws of frontiers, held against finite sets of times."""

from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.grids import (
    EDGES,
    FAR,
    as_set,
    closed,
    every_domain,
    frontiers,
    grid,
    times,
)

from falkirk.core import (
    INF,
    Order,
    ProductFrontier,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    Structured,
    TotalFrontier,
    drop,
    keep,
)


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
