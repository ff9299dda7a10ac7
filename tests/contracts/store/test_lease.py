"""One process writes. Others learn who it is, and those who lost the lease cannot write."""

import os
import subprocess
import sys
import time

import pytest
from sqlalchemy import update
from tests.contracts.store.places import FLOW, Durable, Place, frontiers, persist, upto
from tests.contracts.store.test_batches import TABLE

from falkirk.core.errors import StoreError
from falkirk.core.machine.ledger import Record
from falkirk.store import LeaseLostError, Reference, Store
from falkirk.store.tables import lease


def rewrite_lease(store: Store, **values: object) -> None:
    """Changes what the lease says, as only an accident or another process would."""
    database = getattr(store, "store", store).database
    with database.writing() as connection:
        connection.execute(update(lease).values(**values))


def ended_process() -> int:
    """The number of a process that is no more."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_a_second_one_learns_who_holds_the_store(lasting: Place) -> None:
    lasting.started()
    with pytest.raises(StoreError, match=rf"in use by process {os.getpid()} on .* until 20"):
        lasting.open().acquire()


def test_a_closed_store_can_be_taken_at_once(lasting: Place) -> None:
    lasting.started()
    lasting.again()


def test_acquiring_twice_is_the_same_lease(place: Place) -> None:
    store = place.open()
    assert store.acquire() is store.acquire()


def test_writing_needs_the_lease(place: Place) -> None:
    store = place.open()
    with pytest.raises(StoreError, match="acquire the store"):
        store.transact([])
    with pytest.raises(StoreError, match="acquire the store"):
        store.adopt({})


def test_reading_needs_no_lease(lasting: Place) -> None:
    lasting.started().transact([persist("b", 0)])
    assert frontiers(lasting.open(), "b") == [upto(0)]


def test_the_lease_of_a_dead_process_is_taken_over(lasting: Place) -> None:
    first = lasting.started()
    rewrite_lease(first, pid=ended_process())
    lasting.open().acquire()


def test_another_process_with_the_same_number_is_not_the_holder(lasting: Place) -> None:
    first = lasting.started()
    rewrite_lease(first, started="another boot:1")
    lasting.open().acquire()


def test_an_expired_lease_is_taken_over_and_its_holder_is_fenced(lasting: Place) -> None:
    first = lasting.started()
    first.transact([persist("b", 0)])
    rewrite_lease(first, host="elsewhere")
    with pytest.raises(StoreError, match="on elsewhere until"):
        lasting.open().acquire()
    rewrite_lease(first, expires=time.time() - 60)
    second = lasting.open()
    second.acquire()
    with pytest.raises(LeaseLostError, match="lost its lease"):
        first.transact([persist("b", 1)])
    with pytest.raises(LeaseLostError):
        first.adopt({})
    with pytest.raises(LeaseLostError):
        first.collect_garbage()
    assert frontiers(second, "b") == [upto(0)]
    first.close()  # which must not give up what is not its own
    second.transact([persist("b", 1)])


def test_the_heartbeat_keeps_the_lease(lasting: Place) -> None:
    first = lasting.open()
    getattr(first, "store", first).acquire(seconds=1.2)
    rewrite_lease(first, host="elsewhere")
    time.sleep(1.6)
    with pytest.raises(StoreError, match="on elsewhere until"):
        lasting.open().acquire()


def test_the_heartbeat_goes_on_while_a_store_is_loaded(lasting: Place) -> None:
    first = lasting.open()
    getattr(first, "store", first).acquire(seconds=1.2)
    batch = Durable(first.files.write(TABLE))
    first.transact([persist("b", 0, [Record((0,), state=[batch])])])
    rewrite_lease(first, host="elsewhere")

    def revive(reference: Reference, label: str) -> Durable:
        time.sleep(1.6)
        with pytest.raises(StoreError, match="on elsewhere until"):
            lasting.open().acquire()
        return Durable(reference, label)

    first.load(FLOW, revive)


def test_a_holder_that_slept_goes_on_if_nobody_took_over(lasting: Place) -> None:
    first = lasting.started()
    rewrite_lease(first, expires=time.time() - 60)
    first.transact([persist("b", 0)])
    assert frontiers(first, "b") == [upto(0)]
