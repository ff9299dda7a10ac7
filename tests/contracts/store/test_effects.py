"""What each effect does to what is durable."""

import pytest
from tests.contracts.store.places import (
    FLOW,
    A,
    B,
    Durable,
    E,
    F,
    Place,
    frontiers,
    persist,
    stored,
    upto,
)
from tests.contracts.store.recording import shown_record

from falkirk.core.domain import EPOCH
from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Collect, CollectLog, Retract
from falkirk.core.machine.ledger import Past, Record, Sent
from falkirk.core.machine.message import Message
from falkirk.core.times import SequenceNumber


def full_record(epoch: int) -> Record:
    """A record in which every field says something."""
    return Record(
        (epoch,),
        delivered=[
            Past(7, E, {"rows": [1]}, (Sent(8, F, (epoch,)), Sent(9, F, SequenceNumber(F, 3)))),
            Past(10, None, None, ()),
        ],
        processed={E},
        notified=True,
        state=[{"word": "ä\u0000", "count": 1}, None, 3.5],
        sent=[
            Message(11, F, (epoch,), (epoch,), ["rows"]),
            Message(12, F, (epoch + 1,), (epoch,), []),
        ],
        discarded={F: {(epoch,), (epoch + 2,)}},
        requests={(epoch + 1,)},
        first={F: 4},
        closed={F: 5},
        durable=True,
    )


def logged(epoch: int, *numbers: int) -> Record:
    """A record of ``a`` that logged a message on e for each number."""
    return Record((epoch,), sent=[Message(n, E, (epoch,), (epoch,), [n]) for n in numbers])


def test_at_first_nothing_is_stored(place: Place) -> None:
    found = place.started().load(FLOW, Durable)
    assert set(found) == set(FLOW.processors)
    for each in found.values():
        assert not each.checkpoints
        assert not each.ledger.records
        assert each.ledger.base.frontier == EPOCH.empty
        assert each.incarnation == 0


def test_a_record_comes_back_with_every_field(lasting: Place) -> None:
    record, effect = full_record(1), persist("b", 1, [full_record(1)])
    lasting.started().transact([effect])
    found = stored(lasting.again(), "b")
    assert shown_record(found.ledger.records[(1,)]) == shown_record(record)
    assert found.checkpoints == ()  # the one before it is not there
    assert found.ledger.sent_count == {}


def test_a_checkpoint_counts_only_with_all_before_it(place: Place) -> None:
    store = place.started()
    store.transact([persist("b", 0), persist("b", 2)])
    assert frontiers(store, "b") == [upto(0)]
    store.transact([persist("b", 1)])
    assert frontiers(store, "b") == [upto(0), upto(1), upto(2)]


def test_a_record_that_is_written_again_replaces_the_old_one(place: Place) -> None:
    store = place.started()
    store.transact([persist("a", 0, [logged(0, 1, 2)])])
    store.transact([persist("a", 0, [logged(0, 3)])])
    assert [m.number for m in stored(store, "a").ledger.log(E)] == [3]
    assert frontiers(store, "a") == [upto(0)]


def test_writes_of_an_earlier_incarnation_are_refused(place: Place) -> None:
    store = place.started()
    store.transact([persist("b", 0, [Record((0,))])])
    store.transact([Retract({B: upto(0)}, {B: 1, A: 4})])
    store.transact([persist("b", 1, [Record((1,))])])
    found = stored(store, "b")
    assert found.incarnation == 1
    assert set(found.ledger.records) == {(0,)}
    assert [c.frontier for c in found.checkpoints] == [upto(0)]
    assert stored(store, "a").incarnation == 4
    store.transact([persist("b", 1, [Record((1,))], incarnation=1)])
    assert frontiers(store, "b") == [upto(0), upto(1)]


def test_a_retraction_forgets_what_lies_outside(place: Place) -> None:
    store = place.started()
    store.transact([persist("b", i, [Record((i,), state=[i])]) for i in range(4)])
    store.transact([Retract({B: upto(1)}, {B: 1})])
    found = stored(store, "b")
    assert set(found.ledger.records) == {(0,), (1,)}
    assert [c.frontier for c in found.checkpoints] == [upto(0), upto(1)]


def test_a_collection_folds_records_into_the_base(place: Place) -> None:
    store = place.started()
    store.transact([persist("b", i, [full_record(i)]) for i in range(4)])
    store.transact([CollectLog(F, upto(9))])
    state = (((0,), "x"), ((2,), "y"))
    store.transact([Collect(B, upto(2), ((0,), (1,), (2,)), state)])
    found = stored(store, "b")
    assert set(found.ledger.records) == {(3,)}
    assert [c.frontier for c in found.checkpoints] == [upto(2), upto(3)]
    base = found.ledger.base
    assert base.frontier == upto(2)
    assert base.state == list(state)
    assert base.processed == {E: upto(2)}
    assert base.discarded == {F: upto(4)}
    assert base.notified == upto(2)
    assert base.requests == {(3,)}
    assert base.closed == {F: 5}


def test_a_log_is_collected_message_by_message(place: Place) -> None:
    store = place.started()
    store.transact([persist("a", i, [logged(i, 2 * i + 1, 2 * i + 2)]) for i in range(3)])
    store.transact([CollectLog(E, upto(0))])
    found = stored(store, "a")
    assert [m.number for m in found.ledger.log(E)] == [3, 4, 5, 6]
    assert set(found.ledger.records) == {(0,), (1,), (2,)}


def test_effects_of_one_transaction_happen_in_order(place: Place) -> None:
    store = place.started()
    store.transact(
        [
            persist("b", 0, [Record((0,))]),
            persist("b", 1, [Record((1,))]),
            Retract({B: upto(0)}, {B: 1}),
            persist("b", 1, [Record((1,), state=["late"])]),
            persist("b", 1, [Record((1,), state=["new"])], incarnation=1),
            Collect(B, upto(0), ((0,),), ()),
        ]
    )
    found = stored(store, "b")
    assert found.ledger.records[(1,)].state == ["new"]
    assert set(found.ledger.records) == {(1,)}


def test_doing_it_all_again_changes_nothing(place: Place) -> None:
    """A commit may succeed although its answer is lost; the driver then tries again."""
    effects = [
        persist("a", 0, [logged(0, 1)]),
        persist("a", 1, [logged(1, 2)]),
        CollectLog(E, upto(0)),
        Collect(A, upto(0), ((0,),), (((0,), "x"),)),
        Retract({A: upto(1)}, {A: 1}),
    ]
    store = place.started()
    store.transact(effects)
    first = stored(store, "a")
    store.transact(effects)
    second = stored(store, "a")
    assert second.checkpoints == first.checkpoints
    assert second.ledger.base == first.ledger.base
    assert set(second.ledger.records) == set(first.ledger.records)


def test_what_was_captured_comes_back(lasting: Place) -> None:
    store = lasting.started()
    effects = [persist("b", i, ticket=i, capture=True) for i in (0, 1)]
    with pytest.raises(StoreError, match="captured"):
        store.transact(effects, {0: "only one"})
    assert frontiers(store, "b") == []
    store.transact(effects, {0: {"at": [0]}, 1: None})
    store = lasting.again()
    assert store.captured(B, upto(0)) == {"at": [0]}
    assert store.captured(B, upto(1)) is None
    assert store.captured(B, EPOCH.empty) is None
    with pytest.raises(StoreError, match="nothing was captured of 'b'"):
        store.captured(B, upto(7))


def test_what_cannot_be_stored_is_refused_as_a_whole(place: Place) -> None:
    store = place.started()
    for wrong, words in [(object(), "JSON"), (Durable(None), "must be durable")]:
        bad = persist("b", 1, [Record((1,), state=[wrong])])
        with pytest.raises(StoreError, match=rf"record of 'b' at \(1,\): .*{words}"):
            store.transact([persist("b", 0, [Record((0,))]), bad])
        assert frontiers(store, "b") == []
        assert not stored(store, "b").ledger.records


def test_only_some_processors_can_be_loaded(place: Place) -> None:
    store = place.started()
    store.transact([persist("b", 0), persist("c", 0)])
    assert set(store.load(FLOW, Durable, [B])) == {B}
