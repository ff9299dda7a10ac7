"""Whatever fails, nothing is half visible, and trying again works."""

from pathlib import Path

import pytest
from tests.contracts.store.places import FLOW, B, Durable, Place, frontiers, persist, upto
from tests.contracts.store.test_batches import TABLE, names

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Retract
from falkirk.core.machine.ledger import Record
from falkirk.store import open_store
from falkirk.testing.faulty import Crashed, Fault, FaultyStore


def faulty(place: Place, *script: tuple[int, Fault], **options: object) -> FaultyStore:
    """A store at a place, in which something will go wrong."""
    store = FaultyStore(open_store(place.address), script, **options)  # type: ignore[arg-type]
    place.opened.append(store)
    store.acquire()
    store.load(FLOW, Durable)
    return store


def test_a_full_disk_leaves_nothing(place: Place) -> None:
    store = faulty(place, (1, Fault.FULL_DISK))
    with pytest.raises(StoreError, match="No space left on device"):
        store.files.write(TABLE)
    assert not names(store)
    reference = store.files.write(TABLE)
    store.transact([persist("b", 0, [Record((0,), state=[Durable(reference)])])])
    assert frontiers(store, "b", verify=True) == [upto(0)]


def test_a_failing_commit_can_be_tried_again(place: Place) -> None:
    store = faulty(place, (2, Fault.FAILING_COMMIT))
    store.transact([persist("b", 0)])
    effects = [
        Retract({B: upto(0)}, {B: 1}),
        persist("b", 1, [Record((1,), state=[Durable(store.files.write(TABLE))])], incarnation=1),
    ]
    with pytest.raises(StoreError, match="nothing of it was"):
        store.transact(effects)
    assert frontiers(store, "b") == [upto(0)]
    assert store.load(FLOW, Durable)[B].incarnation == 0
    store.transact(effects)
    assert frontiers(store, "b", verify=True) == [upto(0), upto(1)]
    assert store.load(FLOW, Durable)[B].incarnation == 1


def test_a_failing_commit_deletes_no_file(place: Place) -> None:
    store = faulty(place, (2, Fault.FAILING_COMMIT))
    store.transact([persist("b", 0, [Record((0,), state=[Durable(store.files.write(TABLE))])])])
    retraction = Retract({B: upto(-1)}, {B: 1})
    with pytest.raises(StoreError):
        store.transact([retraction])
    assert store.collect_garbage().files == 0
    assert frontiers(store, "b", verify=True) == [upto(0)]
    store.transact([retraction])
    assert not names(store)


def test_a_crash_between_the_files_and_the_row(lasting: Place) -> None:
    store = faulty(lasting, (2, Fault.CRASH))
    store.transact([persist("b", 0)])
    reference = store.files.write(TABLE)
    with pytest.raises(Crashed):
        store.transact([persist("b", 1, [Record((1,), state=[Durable(reference)])])])
    assert names(store) == {reference.name}
    store = lasting.again()
    assert frontiers(store, "b") == [upto(0)]
    assert not names(store)


@pytest.mark.parametrize(
    "fault", [Fault.TORN_FILE, Fault.MISSING_FILE, Fault.FLIPPED_BIT], ids=lambda fault: fault.value
)
def test_a_disk_that_lies_is_found_out(lasting: Place, fault: Fault) -> None:
    store = faulty(lasting, (2, fault))
    for i in range(3):
        state = [Durable(store.files.write(TABLE))]
        store.transact([persist("b", i, [Record((i,), state=state)])])
    assert store.happened == [fault]
    assert frontiers(lasting.again(), "b", verify=True) == [upto(0)]


def test_a_seed_strikes_the_same_way_twice(tmp_path: Path) -> None:
    seen = []
    for run in ("first", "second"):
        place = Place("sqlite", str(tmp_path / run))
        store = faulty(place, seed=3, rate=0.5, slow_seconds=0.0, faults=list(Fault)[:6])
        for i in range(20):
            try:
                state = [Durable(store.files.write(TABLE))]
                store.transact([persist("b", i, [Record((i,), state=state)])])
            except StoreError:
                continue
        seen.append(store.happened)
        place.close()
    assert seen[0] == seen[1]
    assert len(set(seen[0])) > 3
