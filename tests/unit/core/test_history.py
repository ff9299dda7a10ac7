"""Histories in sequence numbers, and φ where it is recorded."""

from falkirk.core import (
    EPOCH,
    Chain,
    Edge,
    Event,
    Graph,
    History,
    Message,
    Recorded,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    TotalFrontier,
)

GRAPH = Graph(
    {"a": Sequence(), "b": Sequence(), "p": Sequence(), "c": Sequence(), "w": EPOCH},
    [
        Edge("d1", "a", "p", Recorded()),
        Edge("d2", "b", "p", Recorded()),
        Edge("e", "p", "c", Recorded()),
        Edge("windows", "p", "w", Recorded()),
    ],
)


def number(edge: str, n: int) -> SequenceNumber:
    return SequenceNumber(edge, n)


HISTORY = History(
    GRAPH,
    "p",
    (
        Event(number("d1", 1), "d1", (Message("e", number("e", 1), logged=True),)),
        Event(number("d2", 1), "d2", (Message("e", number("e", 2)),)),
        Event(number("d1", 2), "d1", (Message("windows", (0,)),)),
        Event(number("d2", 2), "d2", (Message("e", number("e", 3), logged=True),)),
    ),
)


def numbers(n: int) -> TotalFrontier:
    return TotalFrontier((n,))


def test_everything_is_counted_by_edge() -> None:
    windows = {"windows": EPOCH.empty}
    row = HISTORY.checkpoint(SequenceFrontier({"d1": 2, "d2": 1}), windows)
    assert row.processed == {"d1": numbers(2), "d2": numbers(1)}
    assert row.discarded == {"e": numbers(2), "windows": numbers(0)}
    assert row.projected == {"e": numbers(2), **windows}
    assert row.notified == Sequence().empty


def test_only_what_no_other_event_sent_before_is_fixed() -> None:
    """Not a prefix: the second message on e was sent by an event that is undone."""
    row = HISTORY.checkpoint(SequenceFrontier({"d1": 2}))
    assert row.projected == {"e": numbers(1)}
    assert HISTORY.checkpoint(SequenceFrontier({"d2": 2})).projected == {"e": TotalFrontier()}
    assert HISTORY.checkpoint(Sequence().top).projected == {"e": numbers(3)}


def test_the_rows_of_a_history_make_a_chain() -> None:
    frontiers = [
        Sequence().empty,
        SequenceFrontier({"d1": 1}),
        SequenceFrontier({"d1": 2, "d2": 1}),
    ]
    rows = [HISTORY.checkpoint(f, {"windows": EPOCH.empty}) for f in frontiers]
    chain = Chain(GRAPH, "p", rows)
    assert chain.projected["e"] == [TotalFrontier(), numbers(1), numbers(2)]


def test_what_is_sent_again_in_sequence_numbers() -> None:
    kept = SequenceFrontier({"e": 1})
    assert HISTORY.resent("e", Sequence().top, kept) == (HISTORY.events[3].sent[0],)
    assert HISTORY.resent("e", SequenceFrontier({"d2": 1}), kept) == ()
