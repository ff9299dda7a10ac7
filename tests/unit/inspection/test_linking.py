"""A shadow takes the batches of its live store, wherever the two are."""

from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pa_fs
import pyarrow.parquet as pq
import pytest

from falkirk.inspection.shadow.linking import CollectedError, take
from falkirk.inspection.shadow.places import beside, lasting
from falkirk.store.files import Files
from falkirk.store.places import Posix
from falkirk.store.places.arrow import Arrow
from falkirk.store.reference import Reference

TABLE = pa.table({"n": [1, 2, 3]})


def files_at(folder: Path, far: bool) -> Files:
    """Batches in a folder, which is a disk or goes for a file system that is far away."""
    folder.mkdir()
    address = f"far://{folder}"
    place = Arrow(pa_fs.LocalFileSystem(), str(folder), address, address)
    return Files(place if far else Posix(folder))


def batches(files: Files, folder: Path) -> list[Reference]:
    """A small batch, and one that Spark wrote."""
    name, _ = files.reserve()
    (folder / name / "inner").mkdir(parents=True)
    for part in ("part-0.parquet", "inner/part-1.parquet", "_SUCCESS"):
        pq.write_table(TABLE, folder / name / part)
    return [files.write(TABLE), files.seal(name)]


@pytest.mark.parametrize("far", [(False, False), (True, False), (False, True), (True, True)])
def test_batches_come_whole(tmp_path: Path, far: tuple[bool, bool]) -> None:
    source, target = (files_at(tmp_path / name, each) for name, each in zip("ab", far, strict=True))
    for reference in batches(source, tmp_path / "a"):
        for _ in range(2):  # what is there stays
            take(source, target, reference)
        assert target.problem(reference, verify=True) is None
        assert target.read(reference).equals(source.read(reference))
    assert sorted(target.names()) == sorted(source.names())


@pytest.mark.parametrize("far", [False, True])
def test_half_a_copy_is_made_again(tmp_path: Path, far: bool) -> None:
    source, target = files_at(tmp_path / "a", True), files_at(tmp_path / "b", far)
    reference = source.write(TABLE)
    (tmp_path / "b" / reference.name).write_bytes(b"half")
    take(source, target, reference)
    assert target.read(reference).equals(TABLE)


@pytest.mark.parametrize("far", [False, True])
def test_what_is_gone_by_now_is_told(tmp_path: Path, far: bool) -> None:
    source, target = files_at(tmp_path / "a", far), files_at(tmp_path / "b", False)
    for reference in batches(source, tmp_path / "a"):
        source.delete(reference)
        with pytest.raises(CollectedError, match="gone by now"):
            take(source, target, reference)


def test_a_shadow_remembers_where_its_live_store_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = lasting("sqlite:///live?data=hdfs://names:8020/x&via=webhdfs://me:hush@names:9870/x")
    assert place == (
        f"sqlite:///{tmp_path}/live?data=hdfs%3A%2F%2Fnames%3A8020%2Fx"
        "&via=webhdfs%3A%2F%2Fnames%3A9870%2Fx"
    )
    assert lasting(place) == place
    assert beside(place) == str(tmp_path / "live")
    assert beside("postgresql://db/shop?data=s3a://bucket/shop/batches/") == "batches"
