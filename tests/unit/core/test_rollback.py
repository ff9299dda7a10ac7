"""Reasons: why a processor may not keep more."""

from falkirk.core import (
    EPOCH,
    AnyFrontier,
    Chain,
    Checkpoint,
    Edge,
    Graph,
    Identity,
    Recorded,
    Sequence,
    SequenceFrontier,
    TotalFrontier,
    Violation,
    solve,
)

SAME = Identity(EPOCH, EPOCH)
GRAPH = Graph(dict.fromkeys("pq", EPOCH), [Edge("e", "p", "q", SAME)])


def upto(t: int) -> TotalFrontier:
    return TotalFrontier((t,))


def test_who_keeps_its_largest_frontier_needs_no_reason() -> None:
    solution = solve(GRAPH, {"p": AnyFrontier(upto(3)), "q": AnyFrontier(upto(1))})
    assert solution.frontiers == dict.fromkeys("pq", EPOCH.top)
    assert solution.reasons == {}
    assert solution.why("p") == solution.why("q") == []


def test_a_reason_is_given_for_the_next_time_only() -> None:
    failed = AnyFrontier(upto(1), failed=True)
    solution = solve(GRAPH, {"p": AnyFrontier(upto(9)), "q": failed})
    assert solution.reasons == {
        "p": [
            Violation(
                "discarded-messages",
                "p",
                "e",
                "p discarded messages up to ↓(2), but q keeps only ↓(1)",
            )
        ]
    }


def test_top_is_the_next_step_once_all_that_is_complete_is_kept() -> None:
    solution = solve(GRAPH, {"p": AnyFrontier(upto(1)), "q": AnyFrontier(upto(5), failed=True)})
    assert solution.frontiers == {"p": upto(1), "q": upto(1)}
    (reason,) = solution.reasons["p"]
    assert reason.because == "p discarded messages up to ⊤, but q keeps only ↓(1)"


def test_notifications_beyond_the_frontier_forbid_a_checkpoint() -> None:
    graph = Graph({"p": EPOCH}, [])
    rows = [Checkpoint(EPOCH.empty), Checkpoint(upto(1), notified=upto(2))]
    solution = solve(graph, {"p": Chain(graph, "p", rows)})
    assert solution.frontiers == {"p": EPOCH.empty}
    assert [v.constraint for v in solution.reasons["p"]] == ["processed-notifications"]


def test_both_neighbours_can_be_the_reason() -> None:
    graph = Graph(
        dict.fromkeys("pqr", EPOCH), [Edge("d", "p", "q", SAME), Edge("e", "q", "r", SAME)]
    )
    ends = {p: AnyFrontier(upto(0), failed=True) for p in "pr"}
    solution = solve(graph, {**ends, "q": AnyFrontier(upto(5), notifies=False)})
    assert [(v.constraint, v.edge) for v in solution.reasons["q"]] == [
        ("discarded-messages", "e"),
        ("delivered-messages", "d"),
    ]


def test_sequence_numbers_name_the_input_that_is_short() -> None:
    graph = Graph(
        {"a": EPOCH, "b": EPOCH, "p": Sequence()},
        [Edge("d", "a", "p", Recorded()), Edge("e", "b", "p", Recorded())],
    )
    rows = {
        p: Chain(
            graph,
            p,
            [Checkpoint(upto(0), projected={e: upto(n)}, discarded={e: graph.domains[p].empty})],
        )
        for p, e, n in (("a", "d", 3), ("b", "e", 1))
    }
    p = AnyFrontier(SequenceFrontier({"d": 3, "e": 2}), failed=True)
    solution = solve(graph, {**rows, "p": p})
    assert solution.frontiers["p"] == SequenceFrontier({"d": 3, "e": 1})
    assert solution.reasons == {
        "p": [
            Violation(
                "delivered-messages",
                "p",
                "e",
                "p processed messages up to ↓(2), but b fixes only ↓(1)",
            )
        ]
    }
