"""Checkpoints of one transaction are written together, and so are folds.

They come at the price of one, and what is stored is the same as one by one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlalchemy import event
from tests.contracts.store.places import FLOW, A, B, C, Durable, E, Place, persist, stored, upto
from tests.contracts.store.recording import shown

from falkirk.core.machine.events import Collect
from falkirk.core.machine.ledger import Record
from falkirk.core.machine.message import Message
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId


@contextmanager
def statements(store: Any) -> Iterator[list[str]]:
    """What the database is told inside."""
    found: list[str] = []

    def told(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    engine = getattr(store, "store", store).database.engine
    event.listen(engine, "before_cursor_execute", told)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", told)


def fold(p: ProcessorId, *epochs: int) -> Collect:
    """Folds records with nothing left to send; the last of them is the state."""
    return Collect(p, upto(epochs[-1]), tuple((e,) for e in epochs), (((epochs[-1],), "state"),))


def one_by_one(folder: Path, effects: Sequence[Any]) -> dict[ProcessorId, Stored]:
    """What is stored by effects that each have a transaction of their own."""
    simple = Place("sqlite", str(folder / "one by one"))
    store = simple.started()
    for effect in effects:
        store.transact([effect])
    found = simple.again().load(FLOW, Durable)
    simple.close()
    return found


def logged(epoch: int, row: str = "") -> Record:
    """A record with state and a logged message."""
    name = row or f"row {epoch}"
    return Record((epoch,), state=[name], sent=[Message(epoch, E, (epoch,), (epoch,), name)])


def test_several_cost_no_more_statements_than_one(lasting: Place) -> None:
    store = lasting.started()
    with statements(store) as alone:
        store.transact([persist("a", 0, [logged(0)])])
    with statements(store) as several:
        effects = [persist(p, epoch, [logged(epoch)]) for p in "ab" for epoch in range(1, 6)]
        store.transact(effects)
    assert len(several) == len(alone)


def test_several_folds_cost_no_more_statements_than_one(lasting: Place) -> None:
    store = lasting.started()
    store.transact([persist(p, epoch, [logged(epoch)]) for p in "abc" for epoch in range(4)])
    with statements(store) as alone:
        store.transact([fold(B, 0, 1)])
    with statements(store) as several:
        store.transact([fold(B, 2, 3), fold(C, 0, 1, 2)])
    assert len(several) == len(alone)


def test_folds_are_the_same_as_one_by_one(lasting: Place, tmp_path: Path) -> None:
    effects = [
        *(persist(p, epoch, [logged(epoch)]) for p in "abc" for epoch in range(4)),
        fold(A, 0, 1),
        fold(B, 0),  # has a record at a time at which another one's is folded
        fold(C, 0, 1, 2),
        fold(B, 1, 2),  # once more, and so not together with the first
    ]
    expected = one_by_one(tmp_path, effects)
    lasting.started().transact(effects)
    found = lasting.again().load(FLOW, Durable)
    for p, each in found.items():
        assert shown(each) == shown(expected[p]), p
    assert {p: sorted(each.ledger.records) for p, each in found.items()} == {
        A: [(2,), (3,)],
        B: [(3,)],
        C: [(3,)],
    }


def test_of_the_batches_of_a_base_some_stay_some_go_and_some_come(lasting: Place) -> None:
    store = lasting.started()
    table = pa.table({"n": [1]})
    stays, goes, comes = (Durable(store.files.write(table)) for _ in range(3))
    store.transact([persist("b", epoch, [Record((epoch,))]) for epoch in range(3)])
    store.transact([Collect(B, upto(0), ((0,),), (((0,), stays), ((0,), goes)))])
    store.transact([Collect(B, upto(1), ((1,),), (((0,), stays), ((1,), comes)))])
    assert [batch for _, batch in stored(store, "b").ledger.base.state] == [stays, comes]
    del goes  # nobody holds it, so that its file can go
    store.transact([])
    kept = {each.reference.name for each in (stays, comes) if each.reference is not None}
    assert set(store.files.names()) == kept


def test_a_batch_stays_if_another_one_folds_its_time(lasting: Place) -> None:
    store = lasting.started()
    state = Durable(store.files.write(pa.table({"n": [1]})))
    store.transact([persist(p, 0, [Record((0,))]) for p in "bc"])
    store.transact([persist("b", 1, [Record((1,), state=[state])]), persist("c", 1, [logged(1)])])
    del state
    names = set(store.files.names())
    store.transact([fold(B, 0), fold(C, 0, 1)])
    assert names
    assert set(store.files.names()) == names


def test_what_is_stored_is_the_same_as_one_by_one(lasting: Place, tmp_path: Path) -> None:
    effects = [
        persist("a", 0, [logged(0)]),
        persist("b", 0, [logged(0, "other")]),
        persist("a", 1, [logged(0, "again"), logged(1)]),  # a record is written once more
        persist("a", 1, [logged(1, "replaced")]),  # and so is a checkpoint
    ]
    expected = one_by_one(tmp_path, effects)
    lasting.started().transact(effects)
    found = lasting.again().load(FLOW, Durable)
    assert {p: shown(each) for p, each in found.items()} == {
        p: shown(each) for p, each in expected.items()
    }
    records = found[A].ledger.records
    assert [records[0,].state, records[1,].state] == [["again"], ["replaced"]]
    assert [message.batch for message in records[1,].sent] == ["replaced"]
