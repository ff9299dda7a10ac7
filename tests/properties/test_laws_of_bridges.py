"""The laws of bridges between epochs and sequence numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from falkirk.core import (
    EPOCH,
    INF,
    DefinitionError,
    Sequence,
    SequenceFrontier,
    Steps,
    TotalFrontier,
    adjoint_counterexample,
    counterexample,
    small_frontiers,
)

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
