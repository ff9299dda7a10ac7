"""§3.2, bridging time domains: what φ(e) promises, and the bridges that the section describes."""

from itertools import product

import pytest
from tests.paper.builders import graph_of, upto

from falkirk.core import (
    EPOCH,
    Chain,
    Checkpoint,
    Custom,
    Edge,
    Enter,
    Event,
    Feedback,
    Graph,
    History,
    Identity,
    Leave,
    Message,
    Order,
    Sequence,
    SequenceFrontier,
    SequenceNumber,
    Steps,
    Structured,
    small_frontiers,
    solve,
)

BOUND = 2


def sending(projection: type) -> object:
    """The time of the message that an event causes on such an edge."""
    return {
        Identity: lambda t: t,
        Enter: lambda t: (*t, 0),
        Leave: lambda t: t[:-1],
        Feedback: lambda t: (*t[:-1], t[-1] + 1),
    }[projection]


@pytest.mark.parametrize(
    ("kind", "depths"), [(Identity, (1, 1)), (Enter, (1, 2)), (Leave, (2, 1)), (Feedback, (2, 2))]
)
@pytest.mark.parametrize("orders", list(product(Order, Order)))
def test_no_event_outside_sends_a_message_with_a_fixed_time(
    kind: type, depths: tuple[int, int], orders: tuple[Order, Order]
) -> None:
    """§3.2: "p is guaranteed not to have produced any messages with times in φ(e)(f) as a result of
    processing an event with a time outside f".
    """
    source, target = (Structured(*both) for both in zip(depths, orders, strict=True))
    projection, send = kind(source, target), sending(kind)
    grid = list(product(range(BOUND + 3), repeat=source.depth))
    for frontier in small_frontiers(source, BOUND):
        fixed = projection.phi(frontier)
        for t in grid:
            assert t in frontier or send(t) not in fixed, (frontier, t)


def test_the_empty_projection_is_always_safe_and_a_larger_one_preserves_more() -> None:
    """§3.2: "We could always set φ(e)(f)=∅, but instead would like to choose it as large as
    possible since larger φ will allow us to preserve more work during rollbacks".
    """
    kept = {}
    for name, projection in (
        ("empty", Custom(lambda f: EPOCH.empty, image_of=lambda f: f)),
        ("largest", Identity(EPOCH, EPOCH)),
    ):
        graph = Graph(dict.fromkeys("pq", EPOCH), [Edge("e", "p", "q", projection)])
        logged = Checkpoint(upto(3), discarded={"e": EPOCH.empty})
        available = {
            "p": Chain(graph, "p", [Checkpoint(EPOCH.empty), logged]),
            "q": Chain(graph, "q", [Checkpoint(EPOCH.empty), Checkpoint(upto(3))]),
        }
        kept[name] = solve(graph, available).frontiers
    assert kept == {
        "empty": {"p": upto(3), "q": EPOCH.empty},
        "largest": {"p": upto(3), "q": upto(3)},
    }


def test_sequence_numbers_fix_as_many_messages_as_were_sent() -> None:
    """§3.2: "when p is in state f^s(s1,…,sn) it has sent s messages on outgoing edge e"; then φ(e)
    of that state is {(e,1),…,(e,s)}.
    """
    graph = graph_of(dict.fromkeys("apb", Sequence()), d="a > p by recorded", e="p > b by recorded")
    events = []
    for s in range(1, 6):  # two messages for every one that is taken in
        out = (Message("e", SequenceNumber("e", n)) for n in (2 * s - 1, 2 * s))
        events.append(Event(SequenceNumber("d", s), "d", tuple(out)))
    history = History(graph, "p", tuple(events))
    for s in range(6):
        found = history.checkpoint(SequenceFrontier({"d": s}))
        assert found.projected == {"e": upto(2 * s) if s else upto()}


def test_epochs_fix_themselves() -> None:
    """§3.2: "For these systems we can set φ(e)(f)=f everywhere, meaning an event at epoch t cannot
    result in a message at any epoch t'<t".
    """
    for frontier in small_frontiers(EPOCH, 5):
        assert Identity(EPOCH, EPOCH).phi(frontier) == frontier


def test_all_of_an_epoch_is_forwarded_before_the_next() -> None:
    """§3.2: "Suppose that in total p receives 73 messages in epoch 1, we could choose φ(e)({1}) =
    {1,…,73}".

    The paper counts epochs from one here. Ours start at zero, so epoch 1 is the second entry.
    """
    bridge = Steps.epoch_to_sequence([20, 20 + 73])
    fixed = bridge.phi(upto(1))
    assert fixed == upto(93)
    assert [n for n in range(1, 200) if (n,) in fixed] == list(range(1, 94))
    assert bridge.phi(upto(0)) == upto(20), "nothing of epoch 1 is fixed before it is complete"
    from_one = Steps(EPOCH, upto(float("inf")), upto()).closed(upto(1), upto(73))
    assert [n for n in range(1, 200) if (n,) in from_one.phi(upto(1))] == list(range(1, 74))
    assert from_one.phi(upto(0)) == upto()


def test_windows_of_a_sequence_become_epochs() -> None:
    """§3.2: "A similar transformer could translate from sequence numbers to epochs, for example to
    construct epochs from sets of messages received at a processor within particular windows of
    wall-clock time".
    """
    windows = Steps.sequence_to_epoch("e", [10, 25])

    def window(number: int) -> int:
        return 0 if number <= 10 else 1 if number <= 25 else 2

    for count in range(31):
        frontier = SequenceFrontier({"e": count})
        fixed, sent = windows.phi(frontier), windows.image(frontier)
        for number in range(1, 31):
            inside = number <= count
            assert inside or (window(number),) not in fixed, "an event outside sends nothing fixed"
            assert not inside or (window(number),) in sent, "the image has all that was sent"
    assert windows.phi(SequenceFrontier({"e": 24})) == upto(0)
    assert windows.phi(SequenceFrontier({"e": 25})) == upto(1)
    longer = windows.closed(SequenceFrontier({"e": 26}), upto(2))
    assert longer.phi(SequenceFrontier({"e": 26})) == upto(2)
