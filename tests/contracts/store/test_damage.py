"""A damaged file costs the checkpoints that need it, and is never passed over in silence."""

import pytest
from tests.contracts.store.places import B, Durable, Place, frontiers, persist, stored, upto
from tests.contracts.store.test_batches import TABLE, written

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Collect
from falkirk.core.machine.ledger import Record
from falkirk.store import Store
from falkirk.testing.faulty import Fault, damage

DAMAGES = [Fault.TORN_FILE, Fault.MISSING_FILE, Fault.FLIPPED_BIT]
SEEN_WITHOUT_READING = [Fault.TORN_FILE, Fault.MISSING_FILE]


def filled(store: Store) -> list[Durable]:
    """Three epochs of ``b``, each with a durable batch as its state."""
    batches = [written(store) for _ in range(3)]
    store.transact([persist("b", i, [Record((i,), state=[batches[i]])]) for i in range(3)])
    return batches


def harm(store: Store, batch: Durable, fault: Fault) -> str:
    """Damages the file of a batch, and says what it is called."""
    assert batch.reference is not None
    damage(store.files.place, batch.reference.name, fault)
    return store.files.told(batch.reference.name)


@pytest.mark.parametrize("fault", DAMAGES, ids=lambda fault: fault.value)
def test_reading_a_damaged_file_says_who_needs_it(place: Place, fault: Fault) -> None:
    store = place.started()
    batches = filled(store)
    file = harm(store, batches[1], fault)
    with pytest.raises(StoreError) as caught:
        store.files.read(batches[1].reference)
    assert file in str(caught.value)
    assert "needed by 'b' at [1]" in str(caught.value)
    assert store.files.read(batches[0].reference).equals(TABLE)


@pytest.mark.parametrize("fault", DAMAGES, ids=lambda fault: fault.value)
def test_the_checkpoints_that_need_it_are_left_out(place: Place, fault: Fault) -> None:
    store = place.started()
    batches = filled(store)
    file = harm(store, batches[1], fault)
    assert frontiers(store, "b", verify=True) == [upto(0)]
    (found,) = store.damages
    assert (found.processor, found.times) == (B, ((1,),))
    assert found.checkpoints == (upto(1), upto(2))
    assert found.file == file
    # The record stays, so that whoever goes there all the same meets the error and no gap.
    assert set(stored(store, "b").ledger.records) == {(0,), (1,), (2,)}


@pytest.mark.parametrize("fault", SEEN_WITHOUT_READING, ids=lambda fault: fault.value)
def test_a_missing_or_torn_file_is_seen_without_reading(place: Place, fault: Fault) -> None:
    store = place.started()
    batches = filled(store)
    harm(store, batches[2], fault)
    assert frontiers(store, "b") == [upto(0), upto(1)]
    assert len(store.damages) == 1


def test_damage_below_the_watermark_costs_everything(place: Place) -> None:
    store = place.started()
    batches = filled(store)
    store.transact([Collect(B, upto(0), ((0,),), (((0,), batches[0]),))])
    harm(store, batches[0], Fault.MISSING_FILE)
    assert frontiers(store, "b") == []
    (found,) = store.damages
    assert found.times == (None,)
    assert found.checkpoints == (upto(0), upto(1), upto(2))
    with pytest.raises(StoreError, match="needed by 'b' below its low-watermark"):
        store.files.read(batches[0].reference)


def test_a_sound_store_has_no_damages(place: Place) -> None:
    store = place.started()
    filled(store)
    assert len(frontiers(store, "b", verify=True)) == 3
    assert store.damages == ()
