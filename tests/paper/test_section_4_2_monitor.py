"""§4.2, garbage collection: the monitoring service."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.paper.builders import epochs, graph_of, upto

from falkirk.core import (
    EPOCH,
    AnyFrontier,
    Checkpoint,
    Completed,
    Monitor,
    RecoveryError,
    Saved,
    Structured,
    Update,
)

GRAPH = epochs("pqr", d="p > q", e="q > r")
EMPTY = EPOCH.empty


def saved(p: str, t: int, **discarded: object) -> Saved:
    return Saved(p, Checkpoint(upto(t), discarded=discarded))


def watermarks(monitor: Monitor) -> dict:
    return {p: monitor.watermark(p) for p in monitor.graph.domains}


def test_it_starts_with_nothing() -> None:
    """§4.2: "It starts with F*(p)=∅ and updates it every time it receives new metadata"."""
    assert set(watermarks(Monitor(GRAPH, {})).values()) == {EMPTY}


def test_an_update_gives_the_new_rollback_frontier_of_every_processor() -> None:
    """§4.2: "When an update arrives the algorithm determines the new maximum rollback frontier at
    every processor given the persisted checkpoints".
    """
    monitor = Monitor(GRAPH, {})
    assert monitor.update([saved("q", 3, e=EMPTY)]).watermarks == {}
    assert monitor.update([saved("r", 4)]).watermarks == {}
    assert monitor.update([saved("p", 2)]).watermarks == {}
    assert monitor.update([saved("r", 5)]).watermarks == {}
    advance = monitor.update([saved("p", 3)])
    assert advance.watermarks == {"p": upto(3), "q": upto(3)}, "r has processed more than q fixes"
    assert monitor.update([saved("q", 5), saved("p", 5)]).watermarks == dict.fromkeys(
        "pqr", upto(5)
    )


def announcements() -> list[list[Update]]:
    """One processor after the other, each in its own order, as its storage acknowledges."""
    return [
        [saved("p", 0), saved("p", 1), saved("p", 2)],
        [saved("q", 0, e=EMPTY), saved("q", 1, e=EMPTY), saved("q", 2, e=EMPTY)],
        [saved("r", 1)],
    ]


def interleavings() -> list[list[Update]]:
    owners = [i for i, queue in enumerate(announcements()) for _ in queue]
    found = []
    for order in sorted(set(permutations(owners))):
        queues = [list(queue) for queue in announcements()]
        found.append([queues[i].pop(0) for i in order])
    return found


def test_it_is_deterministic_and_monotonic() -> None:
    """§4.2: "Since the monitoring service is deterministic, monotonic, and used only for garbage
    collection, it could easily be replicated".

    So no low-watermark ever falls, and in whatever order replicas hear the announcements of
    different processors, they end up agreeing.
    """
    ends = []
    for order in interleavings():
        monitor = Monitor(GRAPH, {})
        before = watermarks(monitor)
        for update in order:
            advance = monitor.update([update])
            after = watermarks(monitor)
            assert all(before[p] <= after[p] for p in before)
            assert advance.watermarks == {p: f for p, f in after.items() if f != before[p]}
            before = after
        ends.append(before)
    assert len(ends) == 140
    assert all(end == ends[0] == {"p": upto(2), "q": upto(2), "r": upto(1)} for end in ends)


def test_one_batch_is_as_good_as_many_updates() -> None:
    one, many = Monitor(GRAPH, {}), Monitor(GRAPH, {})
    updates = interleavings()[17]
    one.update(updates)
    for update in updates:
        many.update([update])
    assert watermarks(one) == watermarks(many)


def test_a_restarted_monitor_agrees_with_one_that_was_not() -> None:
    """Replaying the announcements from their beginning gives the same low-watermarks."""
    updates = interleavings()[99]
    for cut in range(len(updates) + 1):
        first, again = Monitor(GRAPH, {}), Monitor(GRAPH, {})
        first.update(updates[:cut])
        first.update(updates[cut:])
        again.update(updates)
        assert watermarks(first) == watermarks(again)


@given(failed=st.sets(st.sampled_from("pqr")), cut=st.integers(0, 6), which=st.integers(0, 139))
def test_nobody_rolls_back_beyond_the_low_watermark(failed: set, cut: int, which: int) -> None:
    """§4.2: "this rollback frontier is a low-watermark: the processor will never need to roll back
    beyond it in any failure scenario".
    """
    monitor = Monitor(GRAPH, {})
    monitor.update(interleavings()[which][:cut])
    live = {p: Checkpoint(EPOCH.top) for p in "pqr"}
    plan = monitor.rollback_plan(failed, live)
    for p, frontier in plan.frontiers.items():
        assert monitor.watermark(p) <= frontier


def test_the_processor_may_collect_older_checkpoints() -> None:
    """§4.2: "p … is at liberty to garbage-collect Ξ(p,f') and S(p,f) for any f' ⊂ f"."""
    monitor = Monitor(GRAPH, {})
    for t in range(3):
        monitor.update([saved(p, t) for p in "pqr"])
    assert watermarks(monitor) == dict.fromkeys("pqr", upto(2))
    assert all(chain.frontiers == [upto(2)] for chain in monitor.restorables.values())
    live = {p: Checkpoint(EPOCH.top) for p in "pqr"}
    assert set(monitor.rollback_plan("pqr", live).frontiers.values()) == {upto(2)}


def test_senders_may_discard_what_their_receivers_will_not_ask_for() -> None:
    """§4.2: "Processors q that send to p are also notified, and can discard any messages in L(e,·)
    with times in f for e ∈ In(p)".
    """
    monitor = Monitor(GRAPH, {})
    advance = monitor.update([saved("p", 2), saved("q", 2, e=EMPTY)])
    assert advance.watermarks == {"p": upto(2), "q": upto(2)}
    assert advance.logs == {"d": upto(2)}, "r may yet ask for everything on e"
    assert monitor.update([saved("r", 1)]).logs == {"e": upto(1)}


def test_in_a_loop_logs_are_dropped_by_the_time_at_the_receiver() -> None:
    loop = Structured(2)
    graph = graph_of({"p": EPOCH, "q": loop}, d="p > q by enter", c="q > q by feedback")
    monitor = Monitor(graph, {"p": AnyFrontier(upto(4))})
    # q logs what it sends around, and has taken in (1, 3) at most.
    row = Checkpoint(upto(1, 3), discarded={"c": loop.empty})
    advance = monitor.update([Saved("q", row)])
    assert advance.watermarks == {"p": upto(1), "q": upto(1, 3)}
    assert advance.logs == {"d": upto(1, 3), "c": upto(1, 3)}


def test_a_rollback_retracts_checkpoints_and_moves_no_low_watermark() -> None:
    monitor = Monitor(GRAPH, {"p": AnyFrontier(EMPTY)})
    monitor.update([Completed("p", upto(2)), saved("q", 1), saved("q", 2), saved("r", 1)])
    before = watermarks(monitor)
    assert before == dict.fromkeys("pqr", upto(1))
    for p in "pqr":
        monitor.retract(p, upto(1))
    assert watermarks(monitor) == before
    assert monitor.restorables["q"].frontiers == [upto(1)]
    with pytest.raises(RecoveryError, match="low-watermark"):
        monitor.retract("q", upto(0))
    # The same epoch is reached again, this time by another way.
    advance = monitor.update([Completed("p", upto(2)), saved("q", 2), saved("r", 2)])
    assert advance.watermarks == dict.fromkeys("pqr", upto(2))
