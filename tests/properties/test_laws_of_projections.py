"""The laws of projections, held against finite sets of times."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.grids import (
    FAR,
    PROJECTIONS,
    as_set,
    closed,
    every_projection,
    frontiers,
    grid,
    interior,
)

from falkirk.core import (
    EPOCH,
    Custom,
    Enter,
    Feedback,
    Leave,
    Order,
    Projection,
    Structured,
    TotalFrontier,
    adjoint_counterexample,
    counterexample,
    small_frontiers,
)


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
