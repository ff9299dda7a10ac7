"""Where a store can be, and what is refused there."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from falkirk.core.errors import StoreError, StoreOutageError
from falkirk.store import open_store


def test_one_folder_holds_everything(tmp_path: Path) -> None:
    store = open_store(tmp_path / "new" / "state")
    store.acquire()
    store.close()
    store.close()
    assert {path.name for path in (tmp_path / "new" / "state").iterdir()} == {
        "metadata.sqlite",
        "data",
    }


def test_every_write_is_forced_to_the_disk(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()


def test_memory_leaves_nothing() -> None:
    store = open_store("memory:")
    folder = store.files.place.folder
    assert folder is not None
    assert folder.exists()
    store.close()
    assert not folder.exists()


def format_of(folder: Path, becomes: str = "") -> str:
    """The format that a store says it has, changed to another one if that is given."""
    with closing(sqlite3.connect(folder / "metadata.sqlite")) as connection:
        if becomes:
            connection.execute("UPDATE facts SET value = ? WHERE name = 'format'", [becomes])
            connection.commit()
        found = connection.execute("SELECT value FROM facts WHERE name = 'format'").fetchone()
    return str(found[0])


def test_another_format_is_refused(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    format_of(tmp_path, becomes="999")
    with pytest.raises(StoreError, match="format 999, and this falkirk reads formats 1 and 2"):
        open_store(tmp_path)


def test_a_store_of_an_older_format_is_brought_to_this_one(tmp_path: Path) -> None:
    """Who wrote it would take a part of a file for all of it, so is not to open it any more."""
    open_store(tmp_path).close()
    format_of(tmp_path, becomes="1")
    open_store(tmp_path).close()
    assert format_of(tmp_path) == "2"


def test_tables_of_somebody_else_are_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "metadata.sqlite")
    connection.execute("CREATE TABLE records (id INTEGER)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="tables of somebody else"):
        open_store(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "metadata.sqlite").write_bytes(b"not a database, but long enough to be read" * 99)
    with pytest.raises(StoreError, match="not a database"):
        open_store(tmp_path)


def test_damaged_metadata_are_no_outage(tmp_path: Path) -> None:
    """An outage passes, and a supervisor tries again; this does not pass."""
    open_store(tmp_path).close()
    path = tmp_path / "metadata.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    with pytest.raises(StoreError, match="damaged, and trying again will not help") as damaged:
        open_store(tmp_path)
    assert not isinstance(damaged.value, StoreOutageError)


def test_a_file_is_no_place_for_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot make the folder"):
        open_store(tmp_path / "file")


@pytest.mark.parametrize(
    "address",
    [
        "mysql://somewhere/db?data=x",
        "postgresql://user@host/db",
        "postgresql://host:port/db",
        "postgresql://user@host/db?data=unheard-of://bucket/batches",
        "sqlite:///state?data=webhdfs://host/batches?user.name=me",
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(
        StoreError, match=r"(place for|address of) a store|batches (at|cannot)|options"
    ):
        open_store(address)


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    address = f"postgresql://user:secret@/db?host={tmp_path}&data={tmp_path / 'data'}"
    with pytest.raises(StoreError) as caught:
        open_store(address)
    assert "secret" not in str(caught.value)


def test_a_locked_database_is_told_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("falkirk.store.database.BUSY_SECONDS", 0.05)
    store = open_store(tmp_path)
    store.acquire()
    connection = sqlite3.connect(tmp_path / "metadata.sqlite", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="database is locked"):
        store.transact([])
    connection.execute("ROLLBACK")
    connection.close()
    store.transact([])
    store.close()


def test_a_database_without_room_is_told_and_can_be_tried_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.acquire()
    large = {"processors": {"p": {"note": "x" * 1_000_000}}, "edges": {}}

    def limit(pages: int) -> None:
        with store.database.writing() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    limit(50)
    with pytest.raises(StoreError, match="disk is full"):
        store.adopt(large)
    limit(1_000_000)
    store.adopt(large)
    store.close()
