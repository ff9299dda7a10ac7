"""§3.5, consistent frontiers for rollback: each constraint, and what it says when it fails."""

from typing import Any

import pytest
from tests.paper.builders import epochs, graph_of, upto

from falkirk.core import (
    CONSTRAINTS,
    EPOCH,
    AnyFrontier,
    Chain,
    Checkpoint,
    Choice,
    Constraint,
    Graph,
    Sequence,
    SequenceFrontier,
    Structured,
    Violation,
    delivered_messages,
    discarded_messages,
    notification_projection,
    notification_within_frontier,
    processed_notifications,
    solve,
    undelivered_messages,
    violations,
)

GRAPH = epochs("pq", e="p > q")
EMPTY = EPOCH.empty


def choice(p: Checkpoint, q: Checkpoint, notifications: tuple[Any, Any] = (EMPTY, EMPTY)) -> Choice:
    """p and q at the one checkpoint that each has."""
    return Choice(
        GRAPH,
        {"p": Chain(GRAPH, "p", [p]), "q": Chain(GRAPH, "q", [q])},
        {"p": p.frontier, "q": q.frontier},
        dict(zip("pq", notifications, strict=True)),
    )


def only(constraint: Constraint, chosen: Choice) -> Violation | None:
    """The one violation of ``constraint``, if there is one."""
    found = violations(chosen, (constraint,))
    assert len(found) <= 1
    return found[0] if found else None


def test_first_no_message_awaits_delivery_inside_the_frontier() -> None:
    """§3.5: "a processor p may not restore to a frontier f if there is any message m awaiting
    delivery on an edge e ∈ In(p) with time(m) ∈ f".
    """
    graph = epochs("p")
    waiting = AnyFrontier(upto(2), failed=True)  # something at epoch 3 has not been delivered
    for t in range(6):
        chosen = Choice(graph, {"p": waiting}, {"p": upto(t)}, {"p": EMPTY})
        found = only(undelivered_messages, chosen)
        assert (found is None) == (t <= 2)
    assert found == Violation(
        "undelivered-messages", "p", None, "↓(5) ⊄ ↓(2), what was completely delivered to p"
    )
    assert solve(graph, {"p": waiting}).frontiers == {"p": upto(2)}


def test_first_a_processor_that_keeps_everything_restores_nothing() -> None:
    graph = epochs("p")
    for failed in (False, True):
        waiting = AnyFrontier(upto(2), failed)
        chosen = Choice(graph, {"p": waiting}, {"p": EPOCH.top}, {"p": EMPTY})
        assert (only(undelivered_messages, chosen) is None) == (not failed)


def test_second_discarded_messages_need_not_be_received_again() -> None:
    """§3.5: "a processor downstream of p cannot roll back so far that it would need to re-receive
    any messages that p has discarded".
    """
    for sent in range(4):
        for kept in range(4):
            p = Checkpoint(upto(9), discarded={"e": upto(sent)})
            found = only(discarded_messages, choice(p, Checkpoint(upto(kept))))
            assert (found is None) == (sent <= kept)
    p = Checkpoint(upto(9), discarded={"e": upto(3)})
    assert only(discarded_messages, choice(p, Checkpoint(upto(1)))) == Violation(
        "discarded-messages",
        "p",
        "e",
        "p discarded messages up to ↓(3), but q keeps only ↓(1)",
    )


def test_third_delivered_messages_are_fixed_upstream() -> None:
    """§3.5: "a processor must roll back far enough that any delivered messages are within the
    frontier "fixed" by the upstream processor's rollback".
    """
    for fixed in range(4):
        for taken in range(4):
            q = Checkpoint(upto(9), processed={"e": upto(taken)})
            found = only(delivered_messages, choice(Checkpoint(upto(fixed)), q))
            assert (found is None) == (taken <= fixed)
    q = Checkpoint(upto(9), processed={"e": upto(3)})
    assert only(delivered_messages, choice(Checkpoint(upto(1)), q)) == Violation(
        "delivered-messages", "q", "e", "q processed messages up to ↓(3), but p fixes only ↓(1)"
    )


def test_third_what_counts_is_the_projection_and_not_the_frontier() -> None:
    loop = Structured(2)
    graph = graph_of({"p": EPOCH, "q": loop, "r": EPOCH}, i="p > q by enter", o="q > r by leave")
    one = {
        "p": Chain(graph, "p", [Checkpoint(upto(1))]),
        "q": Chain(graph, "q", [Checkpoint(upto(1, 7))]),
        "r": Chain(graph, "r", [Checkpoint(upto(1))]),
    }
    frontiers = {p: chain.frontiers[0] for p, chain in one.items()}
    found = violations(Choice(graph, one, frontiers, frontiers), (delivered_messages,))
    assert [(v.processor, v.edge) for v in found] == [("r", "o")], "(1,8) may still leave the loop"


def test_fourth_the_notification_frontier_lies_inside_the_frontier() -> None:
    """§3.5: "f_n(p) ⊆ f(p)"."""
    for noted in range(4):
        chosen = choice(Checkpoint(upto(2)), Checkpoint(EMPTY), (upto(noted), EMPTY))
        assert (only(notification_within_frontier, chosen) is None) == (noted <= 2)


def test_fifth_processed_notifications_lie_inside_the_notification_frontier() -> None:
    """§3.5: "N̄(p,f) ⊆ f_n(p)"."""
    for noted in range(4):
        p = Checkpoint(upto(3), notified=upto(2))
        chosen = choice(p, Checkpoint(EMPTY), (upto(noted), EMPTY))
        assert (only(processed_notifications, chosen) is None) == (noted >= 2)


def test_sixth_the_notification_frontier_is_fixed_upstream() -> None:
    """§3.5: "∀d ∈ In(p), f_n(p) ⊆ φ(d)(f_n(src(d)))"."""
    for mine in range(4):
        for theirs in range(4):
            nine = Checkpoint(upto(9))
            chosen = choice(nine, nine, (upto(theirs), upto(mine)))
            assert (only(notification_projection, chosen) is None) == (mine <= theirs)


def test_notification_frontiers_can_be_omitted() -> None:
    """§3.5: "Notification frontiers can be "omitted" by setting N̄(p,f)=f_n(p)=∅ everywhere in
    systems without notifications".
    """
    for f in range(3):
        for g in range(3):
            p = Checkpoint(upto(f), notified=EMPTY)
            q = Checkpoint(upto(g), notified=EMPTY)
            notices = (
                notification_within_frontier,
                processed_notifications,
                notification_projection,
            )
            assert violations(choice(p, q), notices) == []


def test_in_a_sequence_domain_each_input_is_compared_on_its_own() -> None:
    graph = graph_of(dict.fromkeys("abp", Sequence()), d="a > p by recorded", e="b > p by recorded")
    states: dict[str, Chain] = {
        "a": Chain(graph, "a", [Checkpoint(Sequence().empty, projected={"d": upto(3)})]),
        "b": Chain(graph, "b", [Checkpoint(Sequence().empty, projected={"e": upto(1)})]),
        "p": Chain(graph, "p", [Checkpoint(SequenceFrontier({"d": 3, "e": 2}))]),
    }
    frontiers = {p: chain.frontiers[0] for p, chain in states.items()}
    chosen = Choice(graph, states, frontiers, dict.fromkeys("abp", Sequence().empty))
    found = violations(chosen, (delivered_messages,))
    assert [(v.processor, v.edge) for v in found] == [("p", "e")]


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_everything_at_the_start_satisfies_every_constraint(constraint: Constraint) -> None:
    """§3.6: "f(p)=f_n(p)=∅ ∀p satisfies all constraints"."""
    loop = Structured(2)
    graph: Graph = graph_of(
        {"p": EPOCH, "q": loop, "r": EPOCH, "s": Sequence()},
        i="p > q by enter",
        c="q > q by feedback",
        o="q > r by leave",
        z="r > s by recorded",
    )
    states = {p: Chain(graph, p, [Checkpoint(d.empty)]) for p, d in graph.domains.items()}
    nothing = {p: domain.empty for p, domain in graph.domains.items()}
    assert violations(Choice(graph, states, nothing, nothing), (constraint,)) == []
