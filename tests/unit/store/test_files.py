"""Files are on the disk before anything speaks of them."""

import os
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from falkirk.core.errors import StoreError
from falkirk.store import Reference, open_store
from falkirk.store.files import DamageError, Files
from falkirk.store.places import Posix

TABLE = pa.table({"n": [1, 2, 3]})


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is forced to the disk, in order."""
    found: list[str] = []
    really = os.fsync

    def fsync(descriptor: int) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_the_file_then_its_name_then_the_row(tmp_path: Path, synced: list[str]) -> None:
    store = open_store(tmp_path)
    store.acquire()
    synced.clear()
    store.database.before_commit = lambda: synced.append("commit")
    reference = store.files.write(TABLE)
    assert synced == [f"{reference.name}.writing"]
    store.transact([])
    assert synced[1:] == ["data", "commit"]
    store.transact([])
    assert synced[3:] == ["commit"]  # there is no new name
    store.close()


def test_batches_that_share_a_file_are_forced_to_the_disk_once(
    tmp_path: Path, synced: list[str]
) -> None:
    files = Files(Posix(tmp_path))
    parts = files.write_together([TABLE, TABLE.slice(1)])
    assert synced == [f"{parts[0].name}.writing"]
    assert [files.read(part) for part in parts] == [TABLE, TABLE.slice(1)]
    assert sum(part.size for part in parts) == parts[0].whole.size
    assert [part.whole for part in parts] == [parts[1].whole] * 2


def test_a_file_is_read_once_for_all_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files(Posix(tmp_path))
    parts = files.write_together([TABLE] * 9)
    asked = list[str]()
    get = files.place.get
    monkeypatch.setattr(files.place, "get", lambda name: asked.append(name) or get(name))
    assert [files.read(part) for part in parts] == [TABLE] * 9
    assert asked == [parts[0].name]


def test_a_part_of_a_damaged_file_is_not_read(tmp_path: Path) -> None:
    files = Files(Posix(tmp_path))
    part = files.write_together([TABLE, TABLE])[1]
    (tmp_path / part.name).write_bytes(b"")
    with pytest.raises(DamageError, match="has 0 bytes instead of"):
        files.read(part)


def test_a_folder_is_synced_file_by_file(tmp_path: Path, synced: list[str]) -> None:
    files = Files(Posix(tmp_path))
    name, path = files.reserve()
    os.mkdir(path)
    for part in ("part-0.parquet", "part-1.parquet", "_SUCCESS"):
        pq.write_table(TABLE, Path(path) / part)
    files.seal(name)
    assert synced[:2] == ["part-0.parquet", "part-1.parquet"]
    assert set(synced[2:]) == {name}
    files.sync()
    assert synced[-1] == tmp_path.name


def test_without_durability_nothing_is_synced(tmp_path: Path, synced: list[str]) -> None:
    files = Files(Posix(tmp_path, durable=False))
    files.write(TABLE)
    files.sync()
    assert synced == []


def test_a_sync_that_fails_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synced: list[str]
) -> None:
    files = Files(Posix(tmp_path))
    files.write(TABLE)
    with monkeypatch.context() as patch:
        patch.setattr("falkirk.store.places.posix.sync_path", failing)
        with pytest.raises(StoreError, match="cannot sync"):
            files.sync()
    synced.clear()
    files.sync()
    assert synced == [tmp_path.name]


def failing(path: Path) -> None:
    raise OSError(5, "Input/output error")


def test_a_folder_that_is_no_parquet_cannot_be_sealed(tmp_path: Path) -> None:
    files = Files(Posix(tmp_path))
    name, path = files.reserve()
    os.mkdir(path)
    (Path(path) / "part-0.parquet").write_bytes(b"nothing of that kind")
    with pytest.raises(StoreError, match="cannot seal"):
        files.seal(name)


def test_there_is_one_reference_for_a_batch(tmp_path: Path) -> None:
    files = Files(Posix(tmp_path))
    written = files.write(TABLE)
    copy = Reference(written.name, written.kind, written.rows, written.size, written.checksum)
    assert files.hold(copy) is written
    assert files.in_use(written.name)
    del written, copy
    assert files.names()
    assert not files.in_use(files.names()[0])


def test_parts_of_a_folder_may_be_empty(tmp_path: Path) -> None:
    files = Files(Posix(tmp_path))
    name, path = files.reserve()
    os.mkdir(path)
    pq.write_table(TABLE, Path(path) / "part-0.parquet")
    pq.write_table(TABLE.slice(0, 0), Path(path) / "part-1.parquet")
    assert files.read(files.seal(name)).equals(TABLE)


@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(2),
        pa.array([[{"x": 1, "y": ["q"]}], None]),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        pa.array([Decimal("1.20"), None], pa.decimal128(38, 18)),
        pa.array([1, 2], pa.timestamp("ns", "Europe/Vienna")),
        pa.array([date(1, 1, 1), date(9999, 12, 31)]),
        pa.array([1, 2], pa.duration("us")),
        pa.array(["x", "y"]).dictionary_encode(),
        pa.array(["x", "\u0000ä"], pa.large_string()),
        pa.array([b"", b"\xff"]),
        pa.array([float("inf"), -0.0]),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_of_any_type_come_back(tmp_path: Path, column: pa.Array) -> None:
    files = Files(Posix(tmp_path))
    table = pa.Table.from_arrays([column, column], ["same", "same"])
    assert files.read(files.write(table)).equals(table)


def test_what_parquet_cannot_hold_is_told(tmp_path: Path) -> None:
    files = Files(Posix(tmp_path))
    for table, words in [
        (pa.table({"gap": [pa.MonthDayNano([1, 2, 3])]}), r"cannot be stored as Parquet.*'gap'"),
        (TABLE.select([]), "3 rows without columns"),
    ]:
        with pytest.raises(StoreError, match=words):
            files.write(table)
    assert files.names() == []
