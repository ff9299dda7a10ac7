"""§3.4, checkpoints and processor history: F*(p), and the processors that need not persist."""

import pytest
from tests.paper.builders import available, epochs, graph_of, upto

from falkirk.core import (
    EPOCH,
    AnyFrontier,
    Chain,
    Checkpoint,
    DefinitionError,
    Event,
    History,
    Message,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    solve,
)


def test_the_available_frontiers_form_a_growing_sequence() -> None:
    """§3.4: "F*(p) = {f1,…,fn}, where f_i ⊂ f_{i+1}"."""
    graph = epochs("p")
    Chain(graph, "p", [Checkpoint(EPOCH.empty), Checkpoint(upto(1)), Checkpoint(upto(3))])
    for wrong in ([upto(1), upto(1)], [upto(3), upto(1)]):
        with pytest.raises(DefinitionError, match="form a chain"):
            Chain(graph, "p", [Checkpoint(f) for f in wrong])


def test_a_processor_that_has_not_failed_may_keep_everything() -> None:
    """§3.4: "For a processor that has not failed, F*(p) may contain the special frontier ⊤ that
    includes all event times".
    """
    graph = epochs("p")
    assert solve(graph, {"p": AnyFrontier(upto(1))}).frontiers == {"p": EPOCH.top}
    assert solve(graph, {"p": AnyFrontier(upto(1), failed=True)}).frontiers == {"p": upto(1)}
    assert all((t,) in EPOCH.top for t in (0, 1, 10**12))


def test_without_selective_rollback_filtering_gives_a_prefix() -> None:
    """§3.4: "For processors that don't perform selective rollback, H(p)@f is always a prefix of
    H(p)".
    """
    graph = graph_of({"a": Sequence(), "p": Sequence()}, d="a > p by recorded")
    events = tuple(Event(SequenceNumber("d", s), "d") for s in range(1, 6))
    history = History(graph, "p", events)
    for s in range(7):
        assert history.at(SequenceFrontier({"d": s})).events == events[:s]


def stateless_history() -> History:
    """§3.4's common case: sends at the epoch of the cause, logs nothing, keeps no state."""
    graph = epochs("apb", d="a > p", e="p > b")
    events: list[Event] = []
    for t in ((0,), (2,), (1,), (2,)):
        events += [Event(t, "d", (Message("e", t),)), Event(t)]
    return History(graph, "p", tuple(events))


def test_in_the_common_case_nothing_need_be_persisted() -> None:
    """§3.4: "in the common case … it need not persist anything. Such processors can adopt …
    φ(e)(f) = M̄(d,f) = N̄(p,f) = D̄(e,f) = f".

    For every frontier of completed epochs that is exactly what its history gives.
    """
    history = stateless_history()
    for t in range(3):
        found = history.checkpoint(upto(t))
        assert found.notified == upto(t)
        assert found.processed == {"d": upto(t)}
        assert found.discarded == {"e": upto(t)}
        assert history.graph.edges["e"].projection.phi(upto(t)) == upto(t)
        assert history.at(upto(t)).logged("e") == ()


def test_in_the_common_case_any_requested_frontier_can_be_restored() -> None:
    """§3.4: "and need not even save F*(p) since they can restore to any requested frontier"."""
    graph = stateless_history().graph
    for t in range(3):
        asked = Chain(graph, "b", [Checkpoint(EPOCH.empty), Checkpoint(upto(t))])
        stateless = {p: AnyFrontier(upto(2)) for p in "ap"}
        found = solve(graph, {**stateless, "b": asked})
        assert set(found.frontiers.values()) == {upto(t)}
        assert upto(t) in available(graph, stateless, "p")


def test_the_common_case_is_what_any_frontier_means() -> None:
    """A stateless processor and one that saves every frontier of its history roll back alike."""
    history, graph = stateless_history(), stateless_history().graph
    saved = Chain(graph, "p", [history.checkpoint(f) for f in [upto(), *map(upto, range(3))]])
    for a in range(3):
        for b in range(3):
            others = {"a": AnyFrontier(upto(a), failed=True), "b": AnyFrontier(upto(b), True)}
            kept = solve(graph, {**others, "p": saved}).frontiers
            assert solve(graph, {**others, "p": AnyFrontier(upto(2), True)}).frontiers == kept
