"""What a rollback has left for sinks to take back is taken back before a run begins."""

from pathlib import Path

import pytest
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.connectors.file_sink import OWNER, write_owner
from falkirk.core.domain import EPOCH
from falkirk.core.errors import ConnectorError
from falkirk.dataflow.blueprint import Blueprint
from falkirk.runtime.undoing import to_undo, undo_what_is_left, undoing
from falkirk.store import open_store
from falkirk.store.noting import Note
from falkirk.store.store import SqlStore


def blueprint(folder: Path) -> Blueprint:
    flow = fk.Dataflow("shown")
    rows = flow.read(Source(), name="rows")
    rows.write(fk.ParquetSink(folder), name="kept")
    rows.write(Sink(), name="plain")
    return flow.build()


def opened() -> SqlStore:
    store = open_store("memory:")
    store.acquire()
    return store


def test_a_sink_forgets_what_was_taken_back_once(tmp_path: Path) -> None:
    for name in ("epoch=0", "epoch=2", "epoch=10", ".kept-3"):
        (tmp_path / "out" / name).mkdir(parents=True)
    flow = blueprint(tmp_path / "out")
    assert undoing(flow) == {"kept"}
    store = opened()
    write_owner(tmp_path / "out", {"output": "kept", "store": store.identity})
    store.transact([Note(to_undo({"kept": EPOCH.frontier([(2,)])}))])
    undo_what_is_left(flow, store)
    left = sorted(each.name for each in (tmp_path / "out").iterdir())
    assert left == [OWNER, ".kept-3", "epoch=0", "epoch=2"]
    assert store.noticeboard.undone() == {}
    store.close()


def test_a_sink_that_cannot_is_named_and_asked_again(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "epoch=x").mkdir()
    store = opened()
    write_owner(tmp_path / "out", {"output": "kept", "store": store.identity})
    store.transact([Note(to_undo({"kept": EPOCH.empty}))])
    with pytest.raises(ConnectorError, match="the sink 'kept' could not take back"):
        undo_what_is_left(blueprint(tmp_path / "out"), store)
    assert store.noticeboard.undone() == {"kept": EPOCH.empty}
    store.close()


def test_what_another_store_has_shown_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "out" / "epoch=7").mkdir(parents=True)
    write_owner(tmp_path / "out", {"output": "kept", "store": "another"})
    store = opened()
    store.transact([Note(to_undo({"kept": EPOCH.empty}))])
    with pytest.raises(ConnectorError, match="epochs of another store"):
        undo_what_is_left(blueprint(tmp_path / "out"), store)
    assert (tmp_path / "out" / "epoch=7").is_dir()
    store.close()


def test_a_sink_that_was_exchanged_for_one_that_cannot_is_named(tmp_path: Path) -> None:
    store = opened()
    store.transact([Note(to_undo({"plain": EPOCH.empty}))])
    with pytest.raises(ConnectorError, match=r"'plain'.*another one that cannot"):
        undo_what_is_left(blueprint(tmp_path / "out"), store)
    store.close()
