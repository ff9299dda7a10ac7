"""What people and runs note down in a store: pins, requests and recoveries."""

import pytest
from tests.contracts.store.places import A, B, C, Place, frontiers, persist, upto

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Pin, Retract
from falkirk.core.machine.ledger import Record
from falkirk.core.times import ProcessorId
from falkirk.store import recoveries
from falkirk.store.audit import entries
from falkirk.store.noting import Note, found
from falkirk.store.pins import PIN, Pinned, held
from falkirk.store.requests import answer_to, ask, withdraw

MAY = Pinned("may", {A: upto(4), B: upto(2)}, False, 10.0, "ada@here", "bad prices")
JUNE = Pinned("june", {A: upto(6), B: upto(6), C: upto(5)}, True, 20.0, "ada@here", "")


def test_pins_are_there_when_the_store_is_opened_again(lasting: Place) -> None:
    lasting.started().transact([Note(JUNE.fact), Note(MAY.fact, {"what": "pin may"})])
    store = lasting.again()
    assert store.noticeboard.pins() == (MAY, JUNE), "the oldest first"
    store.transact([Note({PIN + "may": None})])
    assert store.noticeboard.pins() == (JUNE,)


def test_what_several_pins_hold_back_is_what_lies_beyond_any_of_them() -> None:
    assert held([MAY, JUNE]) == Pin(
        {A: upto(4), B: upto(2), C: upto(5)}, {A: upto(6), B: upto(6), C: upto(5)}
    )
    assert held([MAY, JUNE], free={"a"}).kept == {B: upto(2), C: upto(5)}
    assert held([]) == Pin({})


def test_a_pin_speaks_of_what_would_be_undone() -> None:
    assert MAY.outside({B: upto(1)})
    assert not MAY.outside({B: upto(2), C: upto(0)})


def test_a_note_goes_with_its_retraction_or_not_at_all(place: Place) -> None:
    store = place.started()
    store.transact([Note(MAY.fact), *(persist(B, epoch) for epoch in range(4))])
    store.noticeboard.post({B: upto(2), A: upto(9), C: upto(2)})
    note = Note({PIN + "may": None, "x": [1]}, {"what": "rollback"})
    back = Retract({B: upto(1)}, {B: 1, C: 1}, note)  # C keeps nothing
    bad = persist(B, 2, [Record((2,), state=[object()])], incarnation=1)
    with pytest.raises(StoreError):
        store.transact([back, bad])
    assert store.noticeboard.pins() == (MAY,)
    assert frontiers(store, B) == [upto(epoch) for epoch in range(4)]
    store.transact([back])
    assert store.noticeboard.pins() == ()
    assert frontiers(store, B) == [upto(0), upto(1)]
    assert store.noticeboard.watermarks() == {A: upto(9), B: upto(1)}, "it led below"
    with store.noticeboard.database.reading() as connection:
        assert list(found(connection, "x")) == [("", [1])]
        assert entries(connection) == [{"what": "rollback"}]


def test_a_retraction_of_a_recovery_leaves_what_monitors_posted(place: Place) -> None:
    store = place.started()
    store.noticeboard.post({B: upto(2)})
    store.transact([Retract({B: upto(1)}, {B: 1})])
    assert store.noticeboard.watermarks() == {B: upto(2)}


def test_a_request_is_seen_answered_and_taken_back(lasting: Place) -> None:
    run, person = lasting.started().noticeboard, lasting.open().noticeboard
    number = ask(person.database, "pin", {"name": "may"}, 60)
    (request,) = run.requests()
    assert (request.number, request.what, request.details) == (number, "pin", {"name": "may"})
    assert answer_to(person.database, number) is None
    lasting.opened[0].transact([Note(request.answered({"done": True}))])
    assert run.requests() == []
    assert answer_to(person.database, number) == {"done": True}
    assert withdraw(person.database, number) == {"done": True}
    assert withdraw(person.database, number) is None


def test_nobody_acts_on_a_request_that_is_over(place: Place) -> None:
    board = place.started().noticeboard
    ask(board.database, "pin", {}, -1)
    taken_back = ask(board.database, "pin", {}, 60)
    withdraw(board.database, taken_back)
    assert board.requests() == []


def test_recoveries_are_numbered_and_the_newest_are_kept(lasting: Place) -> None:
    store = lasting.started()
    assert store.noticeboard.last_recovery() == 0
    most = recoveries.KEPT_MAX
    for number in range(1, most + 6):
        store.transact([Note(recoveries.fact({"number": number, "cause": "x"}))])
    store.transact([Note(recoveries.fact({"number": most + 5, "cause": "y"}))])
    store = lasting.again()
    assert store.noticeboard.last_recovery() == most + 5
    with store.noticeboard.database.reading() as connection:
        known = recoveries.recoveries_in(connection)
        newest = recoveries.recoveries_in(connection, after=most + 4)
    assert [each["number"] for each in known] == list(range(6, most + 6))
    assert newest == [{"number": most + 5, "cause": "y"}]


def test_a_processor_may_have_any_name() -> None:
    odd = Pinned("odd", {ProcessorId('a%_":'): upto(1)}, False, 1.0, "", "")
    assert odd.fact["pin:odd"]["frontiers"] == {'a%_":': {"total": [1]}}
