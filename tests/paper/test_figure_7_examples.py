"""Figure 7, some examples of rollback. The drawings are not in the text; the captions are.

Each panel is built from its caption and is the smallest graph in which all its sentences hold.
"""

from dataclasses import replace

from tests.paper.builders import epochs, graph_of, upto

from falkirk.core import (
    EPOCH,
    INF,
    AnyFrontier,
    Chain,
    Event,
    History,
    Message,
    Restorable,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    Solution,
    Structured,
    solve,
    violations,
)

LOOP = Structured(2)


# Panel (a): w → x → y and x → z → y. Whatever arrives on the first input of a processor makes it
# send one message on each output. DELIVERED messages have been taken in so far, and each processor
# has SAVED its state after some of them.
A = graph_of(
    dict.fromkeys("wxyz", Sequence()),
    e1="w > x by recorded",
    e2="x > y by recorded",
    e3="x > z by recorded",
    e4="z > y by recorded",
)
DELIVERED = {"outside": 6, "e1": 5, "e2": 5, "e3": 4, "e4": 4}
SAVED = {
    "w": [],
    "x": [{"e1": 1}, {"e1": 3}],
    "y": [{"e2": 1, "e4": 1}, {"e2": 3, "e4": 2}, {"e2": 4, "e4": 3}],
    "z": [{"e3": 2}, {"e3": 4}],
}


def history_a(p: str) -> History:
    """What p has done, all of it logged; w is driven from outside the graph."""
    inputs = [edge.name for edge in A.inputs(p)]
    events = []
    for d in inputs or ["outside"]:
        for n in range(1, DELIVERED[d] + 1):
            sent = tuple(
                Message(edge.name, SequenceNumber(edge.name, n), logged=True)
                for edge in A.outputs(p)
                if d == (inputs or ["outside"])[0]
            )
            events.append(Event(SequenceNumber(d, n), d if inputs else None, sent))
    return History(A, p, tuple(events))


def chain_a(p: str, failed: bool) -> Chain:
    """F*(p): the saved states, and ⊤ for a processor that lives."""
    frontiers = [Sequence().empty, *map(SequenceFrontier, SAVED[p])]
    if not failed:
        frontiers.append(Sequence().top)
    rows = [replace(history_a(p).checkpoint(f), notified=Sequence().empty) for f in frontiers]
    return Chain(A, p, rows)


def solved_a(failed: str) -> Solution:
    return solve(A, {p: chain_a(p, p in failed) for p in A.domains})


def test_a_everyone_logs_and_nobody_discards() -> None:
    """Caption: "All processors log all outputs (D̄(·,f)=∅) and there are no notifications"."""
    for p in A.domains:
        chain = chain_a(p, failed=False)
        assert all(d.is_empty for column in chain.discarded.values() for d in column)
        assert all(noted.is_empty for noted in chain.notified)


def test_a_with_sequence_numbers_receivers_keep_no_more_than_was_sent() -> None:
    """Caption: "Processor x has failed. … All processors roll back to a state where they have sent
    at least as many messages as their upstream processors have consumed".

    The receivers are downstream, and that is what the constraint on delivered messages says.
    """
    solution = solved_a(failed="x")
    assert solution.frontiers == {
        "w": Sequence().top,
        "x": SequenceFrontier({"e1": 3}),
        "y": SequenceFrontier({"e2": 3, "e4": 2}),
        "z": SequenceFrontier({"e3": 2}),
    }
    assert violations(solution.choice) == []
    for edge in A.edges.values():
        sent = solution.choice.projected(edge, solution.frontiers[edge.source])
        assert solution.choice.processed(edge) <= sent


def test_a_what_was_logged_is_sent_again() -> None:
    kept = solved_a(failed="x").frontiers
    again = {
        e.name: [m.time.number for m in history_a(e.source).resent(e.name, kept[e.source], f)]
        for e in A.edges.values()
        for f in [kept[e.target]]
    }
    assert again == {"e1": [4, 5, 6], "e2": [], "e3": [3], "e4": []}


def test_a_without_a_failure_everybody_keeps_everything() -> None:
    assert all(f.is_top for f in solved_a(failed="").frontiers.values())


def panel_b(logs: frozenset[str]) -> dict:
    """q → p → x → y and p → r, in one epoch that is still going on."""
    graph = epochs("qpxyr", e1="q > p", e2="p > x", e3="x > y", e4="p > r")
    states: dict[str, Restorable] = {p: AnyFrontier(EPOCH.empty) for p in "qxr"}
    states["p"] = AnyFrontier(EPOCH.empty, logs=logs)
    states["y"] = AnyFrontier(EPOCH.empty, failed=True)
    return dict(solve(graph, states).frontiers)


def test_b_a_logging_processor_is_a_firewall() -> None:
    """Caption: "Processor p acts like a Spark Resilient Distributed Dataset (RDD) and has logged
    all its outputs; no other processors have saved any state. Both x and y must roll back to their
    initial state, while p, q and r do not need to roll back".
    """
    kept = panel_b(logs=frozenset({"e2", "e4"}))
    assert kept == {
        "x": EPOCH.empty,
        "y": EPOCH.empty,
        "p": EPOCH.top,
        "q": EPOCH.top,
        "r": EPOCH.top,
    }


def test_b_without_the_log_everybody_starts_again() -> None:
    assert set(panel_b(logs=frozenset()).values()) == {EPOCH.empty}


class PanelC:
    """A loop q → x → y → q, entered from p by e2 and left to r by e3.

    The caption has q add one to the counter of what it receives on e5. A message's time is in the
    domain of its receiver, so that e5, from y to q, is the feedback edge: y at (1,3) sends what q
    takes in at (1,4) and forwards at (1,4). (The caption calls that edge e6 first and e4 later; it
    is e4 here, and e6 leads from x to y.)
    """

    graph = graph_of(
        {"p": EPOCH, "q": LOOP, "x": LOOP, "y": LOOP, "r": EPOCH},
        e2="p > q by enter",
        e3="q > r by leave",
        e4="q > x",
        e6="x > y",
        e5="y > q by feedback",
    )

    def history(self) -> History:
        """q forwards what enters, and then what comes around, up to the fourth iteration."""
        events = [Event((1, 0), "e2", (Message("e4", (1, 0), logged=True),))]
        events += [Event((1, c), "e5", (Message("e4", (1, c), logged=True),)) for c in range(1, 5)]
        return History(self.graph, "q", tuple(events))

    def states(self, logs: frozenset[str] = frozenset({"e3", "e4"})) -> dict[str, Restorable]:
        return {
            "p": AnyFrontier(upto(1)),
            "q": AnyFrontier(upto(1, 4), logs=logs),
            "x": AnyFrontier(upto(1, 4)),
            "y": AnyFrontier(upto(1, 3), failed=True),
            "r": AnyFrontier(upto(0)),
        }


def test_c_q_stays_one_iteration_ahead_of_y() -> None:
    """Caption: "As a result, q can roll back to ↓{(1,4)} even though y rolls back to ↓{(1,3)}"."""
    solution = solve(PanelC.graph, PanelC().states())
    assert solution.frontiers == {
        "p": upto(1),
        "q": upto(1, 4),
        "x": upto(1, 3),
        "y": upto(1, 3),
        "r": upto(0),
    }
    assert violations(solution.choice) == []


def test_c_q_sends_its_logged_messages_again() -> None:
    """Caption: "Thus q re-sends its logged messages at time (1,4) on e4, "restarting" the
    processing in the loop".
    """
    kept = solve(PanelC.graph, PanelC().states()).frontiers
    again = PanelC().history().resent("e4", kept["q"], kept["x"])
    assert [message.time for message in again] == [(1, 4)]


def test_c_without_its_log_the_loop_starts_again() -> None:
    """Caption: "Processor q logs its sent messages, but no other processors do".

    Without the log every trip around the loop costs one iteration more: q must not keep more than x
    does, so y has discarded what q needs, and so on until nothing of epoch 1 is left.
    """
    kept = solve(PanelC.graph, PanelC().states(logs=frozenset({"e3"}))).frontiers
    assert {kept[p] for p in "qxy"} == {upto(0, INF)}
    assert kept["p"] == kept["r"] == upto(0)
