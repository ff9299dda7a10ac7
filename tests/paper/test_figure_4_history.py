"""Figure 4, processor p filters its history on rollback."""

import pytest
from tests.paper.builders import epochs, upto

from falkirk.core import EPOCH, DefinitionError, Event, History, Message

# Inputs e1 and e2, outputs e3 and e4.
GRAPH = epochs("abpcd", e1="a > p", e2="b > p", e3="p > c", e4="p > d")
FIRST, SECOND = Message("e3", (4,)), Message("e3", (4,))
LOGGED = [Message("e4", (t,), logged=True) for t in (1, 3, 4)]

# "There are three delivered messages, then a notification, then another message." The figure itself
# is not in the text; which message came on which edge is ours, and so are the times of the first
# two: whatever they are, the caption's statements below hold.
HISTORY = History(
    GRAPH,
    "p",
    (
        Event((1,), "e1", (LOGGED[0],)),
        Event((4,), "e2", (LOGGED[2],)),
        Event((3,), "e2", (FIRST, LOGGED[1])),
        Event((2,)),
        Event((4,), "e1", (SECOND,)),
    ),
)
F = EPOCH.frontier([(1,), (2,), (3,)])


def test_two_messages_with_time_4_were_sent_at_3_and_at_4() -> None:
    """Caption: "p sent two messages with time 4 on e3 … the first message on e3 was sent at time 3,
    and the second at 4".
    """
    assert [message.time for message in HISTORY.sent("e3")] == [(4,), (4,)]
    causes = [e.time for e in HISTORY.events for m in e.sent if m.edge == "e3"]
    assert causes == [(3,), (4,)]


def test_the_history_and_sent_messages_are_filtered_by_the_time_at_p() -> None:
    """Caption: "The history and sent messages are filtered to retain only the events in f at p".

    So one message with time 4 survives on e3: the one whose cause, at time 3, is in f.
    """
    kept = HISTORY.at(F)
    assert [(event.time, event.edge) for event in kept.events] == [
        ((1,), "e1"),
        ((3,), "e2"),
        ((2,), None),
    ]
    assert kept.sent("e3") == (FIRST,)
    assert kept.sent("e4") == (LOGGED[0], LOGGED[1])


def test_the_processed_frontiers_are_the_smallest_that_contain_the_filtered_history() -> None:
    """Caption: "M̄(e1,f), M̄(e2,f) and N̄(p,f) are the minimum frontiers containing the processed
    messages and notifications, respectively, in p's filtered history".
    """
    found = HISTORY.checkpoint(F)
    assert found.frontier == F
    assert found.processed == {"e1": upto(1), "e2": upto(3)}
    assert found.notified == upto(2)
    kept = HISTORY.at(F)
    assert kept.delivered("e1") == ((1,),)
    assert kept.delivered("e2") == ((3,),)
    assert kept.notifications() == ((2,),)


def test_all_was_logged_on_e4_and_nothing_on_e3() -> None:
    """Caption: "The processor logged all sent messages on e4 and none on e3".

    D̄(e3,f) is in the receiver's time, and so it reaches 4, beyond f: §3.4, "time(m) for m ∈ D(e,f)
    … is in the domain of the process that will receive the message".
    """
    kept, found = HISTORY.at(F), HISTORY.checkpoint(F)
    assert kept.discarded("e3") == (FIRST,)
    assert kept.logged("e3") == ()
    assert kept.discarded("e4") == ()
    assert kept.logged("e4") == (LOGGED[0], LOGGED[1])
    assert found.discarded == {"e3": upto(4), "e4": EPOCH.empty}
    assert not found.discarded["e3"] <= F


def test_what_was_logged_and_the_receiver_gave_up_is_sent_again() -> None:
    """§3.6: "Q'(e) is … the messages in L(p,f(p)) whose times are not contained in f(dst(e))"."""
    assert HISTORY.resent("e4", F, EPOCH.empty) == (LOGGED[0], LOGGED[1])
    assert HISTORY.resent("e4", F, upto(1)) == (LOGGED[1],)
    assert HISTORY.resent("e4", F, F) == ()
    assert HISTORY.resent("e3", F, EPOCH.empty) == ()


def test_at_the_ends_everything_and_nothing_is_kept() -> None:
    assert HISTORY.at(EPOCH.top) == HISTORY
    assert HISTORY.at(EPOCH.empty).events == ()
    nothing = HISTORY.checkpoint(EPOCH.empty)
    assert {nothing.notified, *nothing.processed.values(), *nothing.discarded.values()} == {
        EPOCH.empty
    }


def test_filtering_twice_is_filtering_by_both() -> None:
    for f in map(upto, range(5)):
        for g in map(upto, range(5)):
            assert HISTORY.at(f).at(g) == HISTORY.at(f & g)


@pytest.mark.parametrize(
    "event", [Event((1,), "e3"), Event((1,), "e1", (Message("e2", (1,)),)), Event((1,), "e9")]
)
def test_events_on_edges_of_others_are_refused(event: Event) -> None:
    with pytest.raises(DefinitionError, match="edge of 'p'"):
        History(GRAPH, "p", (event,))
