"""The monitor refuses clearly, and what it accepted before counts."""

import pytest

from falkirk.core import (
    EPOCH,
    AnyFrontier,
    Checkpoint,
    Completed,
    DefinitionError,
    Edge,
    Graph,
    Identity,
    InvariantError,
    Monitor,
    Saved,
    violations,
)


def monitor() -> Monitor:
    """A stateless p that sends to q."""
    graph = Graph({"p": EPOCH, "q": EPOCH}, [Edge("e", "p", "q", Identity(EPOCH, EPOCH))])
    return Monitor(graph, {"p": AnyFrontier(EPOCH.empty)})


def test_what_came_before_a_refused_update_counts() -> None:
    found = monitor()
    one, two = EPOCH.frontier([(1,)]), EPOCH.frontier([(2,)])
    updates = [Completed("p", two), Saved("q", Checkpoint(two)), Saved("q", Checkpoint(one))]
    with pytest.raises(DefinitionError, match="form a chain"):
        found.update(updates)
    assert found.watermark("q") == two


def test_an_unknown_processor_is_named() -> None:
    with pytest.raises(InvariantError, match="'x' is not a processor"):
        monitor().update([Completed("x", EPOCH.empty)])


def test_a_plan_needs_to_know_what_the_living_have_done() -> None:
    with pytest.raises(InvariantError, match="'q' has not failed"):
        monitor().rollback_plan(["p"], {})


def test_a_plan_can_be_looked_into_afterwards() -> None:
    found = monitor()
    plan = found.rollback_plan(["p"], {"q": Checkpoint(EPOCH.top, processed={"e": EPOCH.empty})})
    assert violations(plan.choice) == []
    assert found.watermark("q").is_empty
