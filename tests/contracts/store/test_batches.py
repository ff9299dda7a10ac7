"""Durable batches: shared by reference, kept as long as somebody needs them, and no longer."""

import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.contracts.store.places import A, B, Durable, E, Place, persist, stored, upto

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Collect, CollectLog, Retract
from falkirk.core.machine.ledger import Past, Record
from falkirk.core.machine.message import Message
from falkirk.store import Garbage, Reference, Store

TABLE = pa.table({"word": ["a", "b"], "count": [1, 2]})


def written(store: Store, table: pa.Table = TABLE) -> Durable:
    """A durable batch that nobody holds but the caller."""
    return Durable(store.files.write(table), "left")


def names(store: Store) -> set[str]:
    """What is there."""
    return set(store.files.names())


def put_folder(store: Store, name: str, *parts: str) -> None:
    """A folder as Spark writes it."""
    sink = pa.BufferOutputStream()
    pq.write_table(TABLE, sink)
    folder = store.files.place.folder
    if folder is not None:
        (folder / name).mkdir()
    for part in parts:
        content = sink.getvalue() if part.endswith(".parquet") else b"no rows"
        store.files.place.fill(f"{name}/{part}", content)


def test_a_batch_comes_back_as_it_was(lasting: Place) -> None:
    store = lasting.started()
    message = Message(1, E, (0,), (0,), written(store))
    past = Past(2, E, written(store), ())
    record = Record((0,), [past], state=[written(store)], sent=[message])
    store.transact([persist("a", 0, [record])])
    store = lasting.again()
    found = stored(store, "a").ledger.records[(0,)]
    for batch, before in [
        (found.state[0], record.state[0]),
        (found.sent[0].batch, message.batch),
        (found.delivered[0].batch, past.batch),
    ]:
        assert batch == before
        assert batch.reference.rows == 2
        assert store.files.read(batch.reference).equals(TABLE)
        assert pq.read_table(store.files.place.source(batch.reference.name)).equals(TABLE)


def test_an_empty_batch_keeps_its_columns(place: Place) -> None:
    store = place.started()
    reference = store.files.write(TABLE.slice(0, 0))
    assert store.files.read(reference).schema.names == ["word", "count"]


def test_a_folder_that_spark_wrote_is_sealed(lasting: Place) -> None:
    store = lasting.started()
    name, path = store.files.reserve()
    assert path == store.files.place.address(name)
    assert store.collect_garbage() == Garbage()
    parts = ("part-0.parquet", "part-1.parquet", "_SUCCESS", ".part-0.parquet.crc")
    put_folder(store, name, *parts)
    assert store.collect_garbage() == Garbage()
    reference = store.files.seal(name)
    assert (reference.kind, reference.rows) == ("folder", 4)
    store.transact([persist("b", 0, [Record((0,), state=[Durable(reference)])])])
    store = lasting.again()
    found = stored(store, "b", verify=True).ledger.records[(0,)].state[0].reference
    assert store.files.read(found).equals(pa.concat_tables([TABLE, TABLE]))
    assert store.damages == ()
    store.files.place.delete(f"{name}/part-1.parquet")
    with pytest.raises(StoreError, match=r"is damaged: it has \d+ bytes instead of \d+.*'b' at"):
        store.files.read(found)


def test_what_was_reserved_and_given_up_is_garbage(place: Place) -> None:
    store = place.started()
    name, _ = store.files.reserve()
    put_folder(store, name, "part-0.parquet")
    store.files.abandon(name)
    assert store.collect_garbage().files == 1
    assert not names(store)
    with pytest.raises(StoreError, match="nothing was written"):
        store.files.seal(name)


def test_a_shared_batch_is_stored_once_and_goes_with_its_last_use(place: Place) -> None:
    store = place.started()
    shared = written(store)
    sent = Record((0,), sent=[Message(n, E, (0,), (0,), shared) for n in (1, 2)])
    store.transact([persist("a", 0, [sent]), persist("b", 0, [Record((0,), state=[shared])])])
    name = shared.reference.name
    del shared, sent
    assert names(store) == {name}
    store.transact([CollectLog(E, upto(0))])
    assert names(store) == {name}  # it is still the state of b
    state = tuple(((0,), batch) for batch in stored(store, "b").ledger.records[(0,)].state)
    store.transact([Collect(B, upto(0), ((0,),), state)])
    del state
    store.transact([])
    assert names(store) == {name}
    assert stored(store, "b").ledger.base.state[0][1].reference.name == name
    store.transact([Collect(B, upto(0), (), ())])
    assert not names(store)


def test_a_retraction_frees_files(place: Place) -> None:
    store = place.started()
    effects = [persist("b", i, [Record((i,), state=[written(store)])]) for i in range(3)]
    kept = effects[0].records[0].state[0].reference.name
    store.transact(effects)
    del effects
    store.transact([Retract({B: upto(0)}, {B: 1})])
    assert names(store) == {kept}


def test_who_holds_a_reference_keeps_its_file(place: Place) -> None:
    """A message in flight needs its file although no log and no checkpoint names it any more."""
    store = place.started()
    held = written(store)
    store.transact([persist("a", 0, [Record((0,), sent=[Message(1, E, (0,), (0,), held)])])])
    store.transact([CollectLog(E, upto(0))])
    assert store.collect_garbage() == Garbage()
    assert store.files.read(held.reference).equals(TABLE)
    store.transact([persist("b", 0, [Record((0,), state=[held])])])
    name = held.reference.name
    del held
    store.transact([])
    assert store.collect_garbage() == Garbage()
    assert names(store) == {name}  # the receiver has stored it in the meantime


def test_files_without_a_row_are_collected(place: Place) -> None:
    store = place.started()
    lost = written(store)
    size = lost.reference.size
    assert store.collect_garbage() == Garbage()
    del lost
    assert store.collect_garbage() == Garbage(1, size)
    assert not names(store)


def test_what_a_dead_process_left_is_collected_by_the_next_one(lasting: Place) -> None:
    store = lasting.started()
    kept, lost = written(store), written(store)
    store.transact([persist("b", 0, [Record((0,), state=[kept])])])
    store.files.place.fill(store.files.place.unfinished("0123.parquet"), b"half")
    assert lost.reference.name in names(store)
    assert names(lasting.again()) == {kept.reference.name}


def test_who_lost_the_lease_does_not_delete_what_the_next_one_writes(lasting: Place) -> None:
    store = lasting.started()
    stranger = "0123.parquet"
    store.files.place.fill(stranger, b"of the next holder, which has no row yet")
    lasting.date(store, stranger, time.time() + 60)
    assert store.collect_garbage() == Garbage()
    assert names(store) == {stranger}
    lasting.date(store, stranger, time.time() - 60)
    assert store.collect_garbage().files == 1


def test_a_batch_that_is_not_there_cannot_be_stored(place: Place) -> None:
    store = place.started()
    batch = written(store)
    store.files.delete(batch.reference)
    with pytest.raises(StoreError, match="missing"):
        store.transact([persist("a", 0, [Record((0,), state=[batch])])])
    assert stored(store, "a").ledger.records == {}


def test_a_refused_write_leaves_the_batch_to_those_who_hold_it(place: Place) -> None:
    store = place.started()
    store.transact([Retract({}, {A: 2})])
    batch = written(store)
    store.transact([persist("a", 0, [Record((0,), state=[batch])], incarnation=1)])
    assert store.files.read(batch.reference).equals(TABLE)
    del batch
    assert store.collect_garbage().files == 1


THREE = [
    pa.table({"word": pa.array([w] * n, pa.string())}) for w, n in [("a", 2), ("b", 0), ("c", 3)]
]


def saved_together(store: Store) -> str:
    """A checkpoint of three times whose changes share a file; the name of the file."""
    parts = store.files.write_together(THREE)
    records = [Record((i,), state=[Durable(part, "left")]) for i, part in enumerate(parts)]
    store.transact([persist("b", 2, records, previous=-1)])
    return parts[0].name


def test_batches_that_share_a_file_come_back_as_they_were(lasting: Place) -> None:
    name = saved_together(lasting.started())
    store = lasting.again()
    assert names(store) == {name}
    for epoch, record in stored(store, "b").ledger.records.items():
        [batch] = record.state
        assert store.files.read(batch.reference).equals(THREE[epoch[0]])
        assert batch.reference.rows == THREE[epoch[0]].num_rows
        assert batch.label == "left"


def test_a_shared_file_goes_with_its_last_part(place: Place) -> None:
    store = place.started()
    name = saved_together(store)
    records = stored(store, "b").ledger.records
    last = tuple((time, batch) for time, record in records.items() for batch in record.state)[-1:]
    del records
    store.transact([Collect(B, upto(2), ((0,), (1,), (2,)), last)])
    del last
    store.transact([])
    assert names(store) == {name}
    [(time, batch)] = stored(store, "b").ledger.base.state
    assert time == (2,)
    assert store.files.read(batch.reference).equals(THREE[2])
    store.transact([Collect(B, upto(2), (), ())])
    assert names(store) == {name}, "it is held"
    del batch
    store.transact([])
    assert not names(store)


def test_references_are_values() -> None:
    assert Reference("n", "file", 1, 2, "c") == Reference("n", "file", 1, 2, "c")
