"""The monitor: announcements that cannot be, and rollbacks that are not possible any more."""

import pytest

from falkirk.core import (
    EPOCH,
    AnyFrontier,
    Chain,
    Checkpoint,
    Completed,
    DefinitionError,
    Edge,
    Graph,
    Identity,
    InvariantError,
    Monitor,
    RecoveryError,
    Saved,
    TotalFrontier,
    violations,
)

SAME = Identity(EPOCH, EPOCH)
GRAPH = Graph(dict.fromkeys("pqr", EPOCH), [Edge("d", "p", "q", SAME), Edge("e", "q", "r", SAME)])


def upto(t: int) -> TotalFrontier:
    return TotalFrontier((t,))


def monitor_at(t: int) -> Monitor:
    """All low-watermarks at ``t``; p is stateless."""
    monitor = Monitor(GRAPH, {"p": AnyFrontier(EPOCH.empty)})
    monitor.update([Completed("p", upto(t)), *(Saved(p, Checkpoint(upto(t))) for p in "qr")])
    return monitor


def test_it_does_not_change_what_it_was_given() -> None:
    given = AnyFrontier(EPOCH.empty)
    monitor = Monitor(GRAPH, {"p": given})
    monitor.update([Completed("p", upto(5))])
    assert given == AnyFrontier(EPOCH.empty)


def test_one_that_is_given_chains_agrees_with_one_that_was_told() -> None:
    told = Monitor(GRAPH, {"p": AnyFrontier(EPOCH.empty)})
    saved = [Saved(p, Checkpoint(upto(t))) for p, t in (("q", 1), ("q", 4), ("r", 1), ("r", 2))]
    advance = told.update([Completed("p", upto(5)), *saved])
    chains = {
        p: Chain(
            GRAPH, p, [Checkpoint(EPOCH.empty)] + [s.checkpoint for s in saved if s.processor == p]
        )
        for p in "qr"
    }
    given = Monitor(GRAPH, {"p": AnyFrontier(upto(5)), **chains})
    assert given.so_far() == advance
    assert dict(advance.watermarks) == {p: upto(1) for p in "pqr"}
    more = [Saved("r", Checkpoint(upto(4)))]
    assert given.update(more) == told.update(more)
    assert given.watermark("q") == upto(4)


def test_announcements_of_the_wrong_kind_are_our_bug() -> None:
    monitor = monitor_at(1)
    with pytest.raises(InvariantError, match="'p' cannot announce"):
        monitor.update([Saved("p", Checkpoint(upto(2)))])
    with pytest.raises(InvariantError, match="'q' cannot announce"):
        monitor.update([Completed("q", upto(2))])


def test_a_checkpoint_that_was_announced_before_is_refused() -> None:
    monitor = monitor_at(3)
    with pytest.raises(DefinitionError, match="form a chain"):
        monitor.update([Saved("q", Checkpoint(upto(3)))])
    assert monitor.watermark("q") == upto(3)


def test_what_is_complete_only_grows() -> None:
    monitor = monitor_at(2)
    monitor.update([Completed("p", upto(9)), Completed("p", upto(4))])
    assert monitor.restorables["p"].complete == upto(9)
    assert monitor.watermark("p") == upto(2)


@pytest.mark.parametrize("p", ["p", "q", "r"])
def test_nothing_is_retracted_below_the_low_watermark(p: str) -> None:
    monitor = monitor_at(3)
    with pytest.raises(RecoveryError, match="state below its low-watermark") as caught:
        monitor.retract(p, upto(2))
    assert f"'{p}' cannot go back to ↓(2)" in str(caught.value)
    assert "↓(3)" in str(caught.value)
    assert monitor.watermark(p) == upto(3)


def test_retracting_to_a_frontier_between_two_checkpoints() -> None:
    monitor = monitor_at(1)
    monitor.update([Saved("r", Checkpoint(upto(t))) for t in (4, 8)])
    monitor.retract("r", upto(6))
    assert monitor.restorables["r"].frontiers == [upto(1), upto(4)]
    monitor.retract("p", upto(6))
    advance = monitor.update(
        [Saved("r", Checkpoint(upto(5))), Saved("q", Checkpoint(upto(4))), Completed("p", upto(4))]
    )
    assert advance.watermarks == dict.fromkeys("pqr", upto(4))


def test_retracting_what_is_complete() -> None:
    monitor = monitor_at(1)
    monitor.update([Completed("p", upto(9))])
    monitor.retract("p", upto(3))
    monitor.update([Saved(p, Checkpoint(upto(5))) for p in "qr"])
    assert monitor.watermark("p") == upto(1), "p has not been delivered epoch 5 again"
    monitor.update([Completed("p", upto(5))])
    assert monitor.watermark("p") == upto(5)


def test_the_low_watermarks_satisfy_every_constraint() -> None:
    monitor = monitor_at(2)
    monitor.update([Saved("r", Checkpoint(upto(7))), Completed("p", upto(5))])
    assert violations(monitor.choice()) == []


def test_an_update_of_nothing() -> None:
    advance = monitor_at(2).update([])
    assert (advance.watermarks, advance.logs, advance.acknowledge) == ({}, {}, {})


def test_a_kept_past_can_be_gone_back_to_below_the_low_watermark() -> None:
    monitor = monitor_at(1)
    monitor.keep(dict.fromkeys("pqr", upto(1)))
    for t in (2, 5):
        monitor.update([Completed("p", upto(t)), *(Saved(p, Checkpoint(upto(t))) for p in "qr")])
    assert monitor.watermark("r") == upto(5)
    plan = monitor.rollback_plan((), live(9), {"r": upto(4)})
    assert plan.frontiers == {"p": upto(2), "q": upto(2), "r": upto(2)}
    monitor.go_back(plan.frontiers)
    assert [monitor.watermark(p) for p in "pqr"] == [upto(2)] * 3
    assert not violations(monitor.choice())
    advance = monitor.update(
        [Completed("p", upto(3)), *(Saved(p, Checkpoint(upto(3))) for p in "qr")]
    )
    assert advance.watermarks == dict.fromkeys("pqr", upto(3))


def test_nothing_is_kept_that_nobody_asked_to_keep() -> None:
    monitor = monitor_at(1)
    monitor.update([Completed("p", upto(5)), *(Saved(p, Checkpoint(upto(5))) for p in "qr")])
    with pytest.raises(RecoveryError, match=r"'r' cannot go back to ↓\(4\): ↓\(5\) is the oldest"):
        monitor.rollback_plan((), live(9), {"r": upto(4)})


def test_a_bound_binds_those_who_are_alive_and_stateless() -> None:
    monitor = monitor_at(3)
    plan = monitor.rollback_plan((), live(9), {"p": upto(3)})
    assert plan.frontiers["p"] == upto(3)


def live(t: int) -> dict[str, Checkpoint]:
    """What everybody has done: all up to ``t``."""
    return {
        p: Checkpoint(
            EPOCH.top,
            upto(t),
            {edge.name: upto(t) for edge in GRAPH.inputs(p)},
            {edge.name: upto(t) for edge in GRAPH.outputs(p)},
        )
        for p in "pqr"
    }
