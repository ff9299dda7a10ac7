"""Figure 5, without notification frontiers rollback can lead to an inconsistent state.

§3.5: "Processors p and q have each received a notification for time 1, in response to which p sent
a message at time 1 on e1 and q did nothing. The message arrived at r, which sent nothing in
response, at which point x received a notification for time 1". So e1 leads from p to r, e2 from q
to r and e3 from r to x, and φ(e)(f)=f for all of them.

The text goes on: "in particular f(p) can be set to ∅ since M̄(e2,{(1)})=∅". The edge e2, on which
nothing was sent, comes from q, and it is q that "behaves differently" afterwards: f(q) is meant.
"""

import pytest
from tests.paper.builders import epochs, largest_choice, upto

from falkirk.core import (
    CONSTRAINTS,
    EPOCH,
    Chain,
    Constraint,
    Event,
    History,
    Message,
    delivered_messages,
    discarded_messages,
    notification_projection,
    notification_within_frontier,
    processed_notifications,
    solve,
    undelivered_messages,
)

GRAPH = epochs("pqrx", e1="p > r", e2="q > r", e3="r > x")
ONE = (1,)
EMPTY = EPOCH.empty
HISTORIES = {
    "p": History(GRAPH, "p", (Event(ONE, None, (Message("e1", ONE),)),)),
    "q": History(GRAPH, "q", (Event(ONE),)),
    "r": History(GRAPH, "r", (Event(ONE, "e1"),)),
    "x": History(GRAPH, "x", (Event(ONE),)),
}
PRECEDING = (undelivered_messages, discarded_messages, delivered_messages)
NOTIFICATIONS = (
    notification_within_frontier,
    processed_notifications,
    notification_projection,
)


def chains() -> dict[str, Chain]:
    """All have saved {1}, except q, which has lost everything."""
    return {
        p: Chain(GRAPH, p, [h.checkpoint(f) for f in ([EMPTY] if p == "q" else [EMPTY, upto(1)])])
        for p, h in HISTORIES.items()
    }


def broken_promises(frontiers: dict) -> list[str]:
    """Processors that were notified of a time at which a message can still reach them.

    An event at t outside f(q) is executed anew, may send at t, and every processor downstream may
    forward that: exactly what q and r do in the text.
    """
    senders = {p: {edge.source for edge in GRAPH.inputs(p)} for p in frontiers}
    for p in "pqrx":  # in the order of the flow
        senders[p] |= set().union(*(senders[q] for q in senders[p]))
    return [
        p
        for p, frontier in frontiers.items()
        for t in HISTORIES[p].at(frontier).notifications()
        if any(t not in frontiers[q] for q in senders[p])
    ]


def test_the_metadata_is_that_of_the_text() -> None:
    """§3.5: "M̄(e2,{(1)})=∅"."""
    kept = HISTORIES["r"].checkpoint(upto(1))
    assert kept.processed == {"e1": upto(1), "e2": EMPTY}
    assert kept.discarded == {"e3": EMPTY}
    assert HISTORIES["x"].checkpoint(upto(1)).notified == upto(1)


def test_without_notification_frontiers_the_inconsistent_rollback_appears() -> None:
    """§3.5: "According to the preceding constraints the system could roll back to the frontiers
    shown in the Figure" … "Then x will receive a new message at time 1 even though it has rolled
    back to a history in which it received a notification promising this will never happen".
    """
    chosen = largest_choice(GRAPH, chains(), PRECEDING)
    assert chosen == {"p": upto(1), "q": EMPTY, "r": upto(1), "x": upto(1)}
    assert broken_promises(chosen) == ["x"]


def test_r_and_x_roll_back_to_the_same_frontier() -> None:
    """§3.5: "The problem cannot be fixed by simply adding a new pairwise constraint between r and
    x: in the example they already roll back to the same frontier".
    """
    chosen = largest_choice(GRAPH, chains(), PRECEDING)
    assert chosen["r"] == chosen["x"]


def test_with_notification_frontiers_the_rollback_is_consistent() -> None:
    """§3.5: "we introduce an auxiliary variable at each p, the notification frontier f_n(p)".

    x gives up its notification; r, which was never notified, keeps its work.
    """
    solution = solve(GRAPH, chains())
    assert solution.frontiers == {"p": upto(1), "q": EMPTY, "r": upto(1), "x": EMPTY}
    assert solution.notifications == {"p": upto(1), "q": EMPTY, "r": EMPTY, "x": EMPTY}
    assert solution.frontiers == largest_choice(GRAPH, chains(), CONSTRAINTS)
    assert broken_promises(dict(solution.frontiers)) == []
    (reason,) = solution.reasons["x"]
    assert (reason.constraint, reason.edge) == ("notification-projection", "e3")


@pytest.mark.parametrize("missing", NOTIFICATIONS[1:])
def test_the_constraints_on_notifications_are_needed_together(missing: Constraint) -> None:
    left = tuple(constraint for constraint in CONSTRAINTS if constraint is not missing)
    assert broken_promises(largest_choice(GRAPH, chains(), left)) == ["x"]


def test_the_notification_frontier_must_lie_inside_the_frontier() -> None:
    """Without f_n(p) ⊆ f(p) the notification frontier of q could be anything that it has."""
    left = tuple(c for c in CONSTRAINTS if c is not notification_within_frontier)
    graph_with_q = {
        **chains(),
        "q": Chain(GRAPH, "q", [HISTORIES["q"].checkpoint(f) for f in (EMPTY, upto(1))]),
    }
    # q has {1} saved, and so a value for f_n, but is held at ∅ by a receiver that needs its work.
    graph_with_q["q"].discarded["e2"][1] = upto(2)
    assert broken_promises(largest_choice(GRAPH, graph_with_q, left)) == ["x"]
    assert broken_promises(largest_choice(GRAPH, graph_with_q)) == []
