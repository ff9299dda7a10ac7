"""§3.1, from sets to frontiers."""

from itertools import product

from falkirk.core import (
    EPOCH,
    Order,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    SequenceOrder,
    Structured,
    closure,
)

LOOP = Structured(2, Order.PRODUCT)


def test_a_frontier_is_downward_closed() -> None:
    """§3.1: "if a time t is in the frontier, then so is every time t' ≤ t"."""
    grid = list(product(range(4), range(4)))
    for order in Order:
        frontier = Structured(2, order).frontier([(2, 1), (0, 3)])
        for t, earlier in product(grid, grid):
            assert t not in frontier or not order.leq(earlier, t) or earlier in frontier


def test_the_closure_is_the_smallest_frontier_that_contains_the_set() -> None:
    """§3.1: "the operation that converts a set into the smallest frontier containing that set"."""
    times = [(2, 1), (0, 3), (1, 1)]
    frontier = closure(LOOP, times)
    grid = list(product(range(5), range(5)))
    below = {t for t in grid if any(Order.PRODUCT.leq(t, top) for top in times)}
    assert {t for t in grid if t in frontier} == below


def test_rolling_back_to_an_epoch_includes_all_previous_ones() -> None:
    """§3.1: "if we are rolling back to epoch t we must also include all previous epochs t' < t"."""
    frontier = closure(EPOCH, [(3,)])
    assert [t for t in range(10) if (t,) in frontier] == [0, 1, 2, 3]


def test_sequence_numbers_compare_on_one_edge_only() -> None:
    """§3.1: "(e1,s1) ≤ (e2,s2) if and only if e1 = e2 ∧ s1 ≤ s2"."""
    numbers = [SequenceNumber(e, s) for e in ("e1", "e2") for s in (1, 2, 3)]
    for left, right in product(numbers, numbers):
        expected = left.edge == right.edge and left.number <= right.number
        assert SequenceOrder().leq(left, right) == expected


def test_the_state_of_a_processor_with_several_inputs_is_a_frontier() -> None:
    """§3.1: f^s is {(e1,1),…,(e1,s1)} ∪ … ∪ {(en,1),…,(en,sn)}, and "this set is a frontier"."""
    numbers = [SequenceNumber(e, s) for e in ("e1", "e2", "e3") for s in range(1, 9)]
    frontier = SequenceFrontier({"e1": 4, "e2": 7})
    included = {t for t in numbers if t in frontier}
    assert included == {("e1", s) for s in range(1, 5)} | {("e2", s) for s in range(1, 8)}
    for t, earlier in product(included, numbers):
        assert not SequenceOrder().leq(earlier, t) or earlier in included
    assert closure(Sequence(), included) == frontier
    assert closure(Sequence(), [("e1", 4), ("e2", 7)]) == frontier
