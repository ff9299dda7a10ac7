"""The ledger: what a processor owns, kept by time; rollback, metadata and folding are filters."""

from random import Random

from tests.paper.builders import graph_of, upto

from falkirk.core import EPOCH, Event, Graph, History, Sequence, SequenceFrontier, Structured
from falkirk.core import Message as Sent
from falkirk.core.machine.ledger import Ledger, count_frontier, reach, within
from falkirk.core.machine.message import Message
from falkirk.core.times import SequenceNumber

GRAPH = graph_of(
    {"i": EPOCH, "j": EPOCH, "p": EPOCH, "q": EPOCH, "r": EPOCH},
    a="i > p",
    b="j > p",
    c="p > q",
    d="p > r",
)
NOTHING = EPOCH.empty


def ledger_of(graph: Graph, p: str) -> Ledger:
    outputs = graph.outputs(p)
    targets = {e.name: graph.domains[e.target] for e in outputs}
    return Ledger(graph.domains[p], graph.inputs(p), outputs, targets)


def filled() -> Ledger:
    """Three epochs, done in the order 1, 0, 2; c is logged and d is not."""
    ledger = ledger_of(GRAPH, "p")
    for n, (epoch, edge) in enumerate([(1, "a"), (0, "b"), (2, "a")]):
        record = ledger.at((epoch,))
        record.processed.add(edge)
        record.state = [f"s{epoch}"]
        record.sent.append(Message(n, "c", (epoch,), (epoch,), f"m{epoch}"))
        record.discarded["d"] = {(epoch,)}
        record.requests.add((epoch,))
    ledger.at((0,)).notified = True
    return ledger


def test_state_is_what_lies_at_or_before_a_time() -> None:
    ledger = filled()
    assert ledger.state((0,)) == ["s0"]
    assert sorted(ledger.state((1,))) == ["s0", "s1"]


def test_inside_a_loop_state_is_seen_in_product_order() -> None:
    loop = graph_of({"i": EPOCH, "b": Structured(2)}, e="i > b by enter", f="b > b by feedback")
    ledger = ledger_of(loop, "b")
    for time in ((0, 5), (1, 2), (0, 1)):
        ledger.at(time).state = [time]
    assert sorted(ledger.state((1, 3))) == [(0, 1), (1, 2)], "(0, 5) cannot influence it"


def test_rollback_is_a_filter() -> None:
    ledger = filled()
    ledger.rollback(upto(1))
    assert set(ledger.records) == {(0,), (1,)}
    assert sorted(ledger.state((9,))) == ["s0", "s1"]
    ledger.rollback(NOTHING)
    assert ledger.records == {}


def test_the_log_comes_in_the_order_of_sending() -> None:
    ledger = filled()
    assert [message.batch for message in ledger.log("c")] == ["m1", "m0", "m2"]
    ledger.forget_log("c", upto(0))
    assert [message.batch for message in ledger.log("c")] == ["m1", "m2"]


def test_requests_are_pending_until_they_are_answered() -> None:
    ledger = filled()
    assert ledger.pending_requests() == {(1,), (2,)}
    ledger.rollback(upto(1))
    assert ledger.pending_requests() == {(1,)}, "that of an undone event goes with it"


def test_a_request_for_later_belongs_to_the_event_that_made_it() -> None:
    ledger = filled()
    ledger.at((0,)).requests.add((7,))
    ledger.rollback(upto(0))
    assert ledger.pending_requests() == {(7,)}


def test_metadata_of_each_frontier() -> None:
    ledger = filled()
    kept = ledger.metadata(upto(1))
    assert kept.frontier == upto(1)
    assert kept.processed == {"a": upto(1), "b": upto(0)}
    assert kept.discarded == {"c": NOTHING, "d": upto(1)}
    assert kept.notified == upto(0)
    assert ledger.metadata(EPOCH.top).processed == {"a": upto(2), "b": upto(0)}
    assert ledger.metadata(NOTHING).processed == {"a": NOTHING, "b": NOTHING}


def test_metadata_agrees_with_the_definition_over_histories() -> None:
    """§3.4 defines M̄, N̄ and D̄ over H(p)@f; the ledger only has records by time."""
    for seed in range(40):
        random = Random(seed)
        ledger, events = ledger_of(GRAPH, "p"), []
        for _ in range(random.randint(0, 8)):
            time = (random.randint(0, 4),)
            edge = random.choice(["a", "b", None])
            used = [e for e in ("c", "d") if random.random() < 0.5]
            sends = [(e, (time[0] + random.randint(0, 2),)) for e in used]
            events.append(Event(time, edge, tuple(Sent(e, t) for e, t in sends)))
            record = ledger.at(time)
            if edge is None:
                record.notified = True
            else:
                record.processed.add(edge)
            for e, t in sends:
                record.discarded.setdefault(e, set()).add(t)
        history = History(GRAPH, "p", tuple(events))
        for frontier in [NOTHING, *(upto(t) for t in range(5))]:
            exact, kept = history.checkpoint(frontier), ledger.metadata(frontier)
            assert kept.notified == exact.notified
            assert dict(kept.processed) == dict(exact.processed)
            assert dict(kept.discarded) == dict(exact.discarded), f"seed {seed}"


def test_folding_changes_nothing_that_can_still_be_asked() -> None:
    ledger, folded = filled(), filled()
    for each in (ledger, folded):
        each.forget_log("c", upto(1))
    times = folded.finished(upto(1))
    assert set(times) == {(0,), (1,)}
    folded.fold(upto(1), times)
    assert set(folded.records) == {(2,)}
    assert sorted(folded.state((5,))) == sorted(ledger.state((5,)))
    for frontier in (upto(1), upto(2), EPOCH.top):
        assert folded.metadata(frontier) == ledger.metadata(frontier)
    assert folded.was_notified((1,)), "what is folded is complete"


def test_what_still_has_something_to_send_is_not_folded() -> None:
    ledger = filled()
    assert ledger.finished(upto(1)) == ()
    ledger.fold(upto(1), ledger.finished(upto(1)))
    assert set(ledger.records) == {(0,), (1,), (2,)}
    assert [message.batch for message in ledger.log("c")] == ["m1", "m0", "m2"]


def test_folding_keeps_requests_for_later() -> None:
    ledger = filled()
    ledger.at((0,)).requests.add((7,))
    ledger.at((0,)).sent.clear()
    ledger.fold(upto(0), [(0,)])
    assert (7,) in ledger.pending_requests()
    assert (0,) not in ledger.pending_requests()


def test_the_position_is_that_of_the_latest_time_wherever_it_is_kept() -> None:
    """A newer epoch may be folded before an older one, whose log somebody still needs."""
    ledger = filled()
    ledger.at((1,)).sent.clear()
    ledger.fold(upto(1), [(1,)])
    ledger.rollback(upto(1))
    assert ledger.position() == "s1"
    assert ledger_of(GRAPH, "p").position() is None


def test_a_copy_shares_nothing_that_changes() -> None:
    record = filled().at((0,))
    copy = record.copy()
    assert copy == record
    record.state.append("more")
    record.processed.add("a")
    record.discarded["d"].add((9,))
    record.requests.add((8,))
    assert copy.state == ["s0"]
    assert copy.processed == {"b"}
    assert copy.discarded == {"d": {(0,)}}
    assert copy.requests == {(0,)}


# Sequence numbers.

NUMBERED = graph_of(
    {"i": EPOCH, "p": Sequence(), "q": Sequence()},
    a="i > p by recorded",
    b="p > q by recorded",
)


def test_the_projection_is_the_count_that_events_inside_have_sent() -> None:
    """§3.2: φ(e)(f) = {(e,1),…,(e,s)}."""
    ledger = ledger_of(NUMBERED, "i")
    for epoch, count in ((0, 2), (1, 3)):
        record = ledger.at((epoch,))
        record.first["a"] = ledger.sent_count["a"] + 1
        ledger.sent_count["a"] += count
    assert ledger.metadata(NOTHING).projected == {"a": count_frontier(0)}
    assert ledger.metadata(upto(0)).projected == {"a": count_frontier(2)}
    assert ledger.metadata(upto(1)).projected == {"a": count_frontier(5)}


def test_after_a_rollback_numbers_are_used_again() -> None:
    ledger = ledger_of(NUMBERED, "p")
    for number in (1, 2, 3):
        ledger.at(SequenceNumber("a", number)).first["b"] = number
        ledger.sent_count["b"] = number
    ledger.rollback(SequenceFrontier({"a": 1}))
    assert ledger.sent_count == {"b": 1}


def test_times_of_messages_in_frontiers_of_their_receiver() -> None:
    assert reach(EPOCH, [(1,), (3,)]) == upto(3)
    assert reach(Sequence(), [SequenceNumber("a", 4), SequenceNumber("a", 2)]) == count_frontier(4)
    assert reach(Sequence(), []) == count_frontier(0)
    third = Message(9, "a", SequenceNumber("a", 3), (0,), None)
    assert within(third, count_frontier(3))
    assert not within(third, count_frontier(2))
    assert within(Message(9, "c", (1,), (0,), None), upto(1))
