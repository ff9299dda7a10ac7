"""Chains of checkpoints: what they refuse, find and forget."""

import pytest

from falkirk.core import (
    EPOCH,
    AnyFrontier,
    Chain,
    Checkpoint,
    DefinitionError,
    Edge,
    Graph,
    Identity,
    Order,
    Recorded,
    Sequence,
    SequenceFrontier,
    Structured,
    TotalFrontier,
    solve,
)

GRAPH = Graph(
    {"p": EPOCH, "q": EPOCH, "s": Sequence()},
    [
        Edge("d", "q", "p", Identity(EPOCH, EPOCH)),
        Edge("e", "p", "s", Recorded()),
    ],
)


def upto(*time: int) -> TotalFrontier:
    return TotalFrontier(time)


def row(t: int, sent: int) -> Checkpoint:
    return Checkpoint(upto(t), projected={"e": upto(sent)})


def test_a_checkpoint_must_be_larger_than_the_last() -> None:
    chain = Chain(GRAPH, "p", [Checkpoint(EPOCH.empty), row(2, 5)])
    for t in (2, 1):
        with pytest.raises(DefinitionError, match=r"is not strictly\s+larger than ↓\(2\)"):
            chain.append(row(t, 9))
    assert chain.frontiers == [EPOCH.empty, upto(2)], "what was refused left nothing behind"
    assert {len(column) for column in (chain.notified, chain.projected["e"])} == {2}


def test_incomparable_frontiers_are_no_chain() -> None:
    domain = Structured(2, Order.PRODUCT)
    graph = Graph({"p": domain}, [])
    with pytest.raises(DefinitionError, match="form a chain"):
        Chain(graph, "p", [Checkpoint(domain.frontier([t])) for t in ((0, 1), (1, 0))])


def test_a_recorded_projection_must_be_given() -> None:
    with pytest.raises(DefinitionError, match="does not record the projection of edge 'e'"):
        Chain(GRAPH, "p", [Checkpoint(upto(1))])
    assert Chain(GRAPH, "p", [Checkpoint(EPOCH.empty)]).projected["e"] == [upto()]


def test_a_recorded_projection_must_not_shrink() -> None:
    chain = Chain(GRAPH, "p", [row(1, 5)])
    with pytest.raises(DefinitionError, match=r"shrinks from ↓\(5\) to ↓\(4\).*monotone"):
        chain.append(row(2, 4))
    assert chain.frontiers == [upto(1)]
    chain.append(row(2, 5))


def test_what_is_left_out_takes_the_safe_side() -> None:
    chain = Chain(GRAPH, "p", [row(3, 7)])
    assert chain.notified == [upto(3)]
    assert chain.processed == {"d": [upto(3)]}
    assert chain.discarded == {"e": [upto(7)]}
    numbers = Chain(GRAPH, "s", [Checkpoint(SequenceFrontier({"e": 4}))])
    assert numbers.processed == {"e": [upto(4)]}, "only its own part"


def test_the_largest_checkpoint_inside() -> None:
    chain = Chain(GRAPH, "p", [row(1, 1), row(3, 3), row(5, 5)])
    found = [chain.largest_inside(f) for f in (EPOCH.empty, *map(upto, range(7)), EPOCH.top)]
    assert found == [-1, -1, 0, 0, 1, 1, 2, 2, 2]


def test_truncating_and_forgetting_keep_the_columns_together() -> None:
    chain = Chain(GRAPH, "p", [row(t, 10 * t) for t in range(1, 6)])
    chain.truncate(4)
    chain.forget(1)
    assert chain.frontiers == [upto(2), upto(3), upto(4)] == chain.notified
    assert chain.processed == {"d": [upto(2), upto(3), upto(4)]}
    assert chain.discarded == chain.projected == {"e": [upto(20), upto(30), upto(40)]}
    chain.append(row(5, 50))
    assert chain.frontiers[-1] == upto(5)


def test_nothing_is_recorded_for_a_processor_that_restores_to_any_frontier() -> None:
    others = {p: Chain(GRAPH, p, [Checkpoint(GRAPH.domains[p].empty)]) for p in "qs"}
    with pytest.raises(DefinitionError, match="'p' restores to any frontier"):
        solve(GRAPH, {**others, "p": AnyFrontier(EPOCH.empty)})
