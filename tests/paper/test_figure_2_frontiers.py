"""Figure 2, logical times for events: the frontier f(x) and the projection φ(e)(f(x)) of each."""

from tests.paper.builders import graph_of, upto

from falkirk.core import (
    EPOCH,
    INF,
    Enter,
    Event,
    History,
    Identity,
    Message,
    Order,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    Structured,
)


def numbered(edge: str, first: int, last: int) -> list[SequenceNumber]:
    return [SequenceNumber(edge, s) for s in range(first, last + 1)]


def test_a_sequence_numbers() -> None:
    """Caption: "p has processed the first 4 messages on edge e1 and the first 7 on e2, and has sent
    3 messages on e3 and 4 on e4"; §3.1: "the frontier f(p) = f^s(4,7)".
    """
    domains = dict.fromkeys(("a", "b", "p", "c", "d"), Sequence())
    graph = graph_of(
        domains,
        e1="a > p by recorded",
        e2="b > p by recorded",
        e3="p > c by recorded",
        e4="p > d by recorded",
    )
    sent = [Message("e3", t) for t in numbered("e3", 1, 3)]
    sent += [Message("e4", t) for t in numbered("e4", 1, 4)]
    taken = [*numbered("e1", 1, 4), *numbered("e2", 1, 7)]
    caused: list[tuple[Message, ...]] = [(m,) for m in sent] + [()] * (len(taken) - len(sent))
    events = (Event(t, t.edge, out) for t, out in zip(taken, caused, strict=True))
    history = History(graph, "p", tuple(events))
    frontier = SequenceFrontier({"e1": 4, "e2": 7})
    assert history.at(frontier) == history
    assert all(t not in frontier for t in (*numbered("e1", 5, 6), *numbered("e2", 8, 9)))
    found = history.checkpoint(frontier)
    assert found.projected == {"e3": upto(3), "e4": upto(4)}
    assert found.processed == {"e1": upto(4), "e2": upto(7)}


def test_b_epochs() -> None:
    """Caption: "q has processed all the events in the first two epochs, and has sent all
    corresponding messages for those epochs".
    """
    frontier = EPOCH.frontier([(1,), (2,)])
    assert [t for t in range(1, 5) if (t,) in frontier] == [1, 2]
    assert Identity(EPOCH, EPOCH).phi(frontier) == frontier


def test_c_structured_times_entering_a_loop() -> None:
    """Caption: "r has processed all events in the first epoch and sent all the messages it will
    ever produce with epoch 1 and any iteration count"; §3.2: "{(t,c) : t ∈ f}".
    """
    frontier = upto(1)
    for order in Order:
        fixed = Enter(EPOCH, Structured(2, order)).phi(frontier)
        assert fixed.maximal == ((1, INF),)
        for t in range(4):
            for c in (0, 1, 2, 10**9):
                assert ((t, c) in fixed) == ((t,) in frontier)
