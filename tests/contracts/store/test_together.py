"""Checkpoints of one transaction are written together: at the price of one, and as one by one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event
from tests.contracts.store.places import FLOW, A, Durable, E, Place, persist
from tests.contracts.store.recording import shown

from falkirk.core.machine.ledger import Record
from falkirk.core.machine.message import Message


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


def test_what_is_stored_is_the_same_as_one_by_one(lasting: Place, tmp_path: Path) -> None:
    effects = [
        persist("a", 0, [logged(0)]),
        persist("b", 0, [logged(0, "other")]),
        persist("a", 1, [logged(0, "again"), logged(1)]),  # a record is written once more
        persist("a", 1, [logged(1, "replaced")]),  # and so is a checkpoint
    ]
    simple = Place("sqlite", str(tmp_path / "one by one"))
    store = simple.started()
    for effect in effects:
        store.transact([effect])
    expected = simple.again().load(FLOW, Durable)
    lasting.started().transact(effects)
    found = lasting.again().load(FLOW, Durable)
    assert {p: shown(each) for p, each in found.items()} == {
        p: shown(each) for p, each in expected.items()
    }
    records = found[A].ledger.records
    assert [records[0,].state, records[1,].state] == [["again"], ["replaced"]]
    assert [message.batch for message in records[1,].sent] == ["replaced"]
    simple.close()
