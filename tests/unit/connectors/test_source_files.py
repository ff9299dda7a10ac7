"""Files in a folder: in order, each once, and one look at the folder for a poll."""

import gzip
import os
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from falkirk.connectors import Files
from falkirk.connectors.spark_formats import known_format
from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.core.times import ProcessorId
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.admission import Admission
from falkirk.runtime.inputs import Reader
from falkirk.runtime.looking import Looking
from falkirk.testing.script import Remembered

ORDERS = ["name", "modified"]


class Read(list[str]):
    """The names of the files that are read, in the place of a frame."""

    partitions = 2

    def coalesce(self, partitions: int) -> "Read":
        """In so many tasks."""
        self.partitions = partitions
        return self


class Spark:
    """Stands for a session; counts the readers that are made."""

    def __init__(self) -> None:
        self.readers = 0

    @property
    def read(self) -> "Spark":
        """A reader, and all that it is told, is this one."""
        self.readers += 1
        return self

    def format(self, *_: Any) -> "Spark":
        return self

    def options(self, **_: Any) -> "Spark":
        return self

    def load(self, paths: Any) -> Read:
        """The names of the files that are read."""
        return Read(Path(path).name for path in ([paths] if isinstance(paths, str) else paths))


def put(folder: Path, name: str, seconds: int) -> Path:
    path = folder / name
    path.write_text("x" * seconds)
    os.utime(path, (seconds, seconds))
    return path


def all_read(source: Files, limit: Limit, session: Any) -> list[list[str]]:
    """What is read, epoch by epoch, until there is nothing more."""
    position, found = source.initial(), []
    while (end := source.latest(position, limit)) != position:
        found.append(source.read(session, position, end))
        position = end
    return found


@pytest.mark.parametrize(("order", "expected"), [("name", "abc"), ("modified", "cab")])
@pytest.mark.parametrize("limit", [1, 2, None])
def test_in_order_and_each_once(
    tmp_path: Path, order: str, expected: str, limit: int | None
) -> None:
    for name, seconds in (("a", 2), ("b", 3), ("c", 1), (".hidden", 4), ("_temporary", 5)):
        put(tmp_path, name, seconds)
    (tmp_path / "folder").mkdir()
    session = Spark()
    found = all_read(Files(tmp_path, order=order), Limit(files=limit), session)
    assert [name for epoch in found for name in epoch] == list(expected)
    assert all(len(epoch) == (limit or 3) for epoch in found[:-1])
    assert session.readers == 1


def test_an_epoch_has_no_more_bytes_than_it_may_but_a_file_is_never_divided(tmp_path: Path) -> None:
    for name, size in (("a", 3), ("b", 4), ("c", 9), ("d", 2), ("e", 1)):
        put(tmp_path, name, size)
    found = all_read(Files(tmp_path, order="name"), Limit(bytes=7), Spark())
    assert found == [["a", "b"], ["c"], ["d", "e"]]
    both = all_read(Files(tmp_path, order="name"), Limit(bytes=7, files=1), Spark())
    assert both == [["a"], ["b"], ["c"], ["d"], ["e"]]


def test_what_cannot_be_told_to_be_malformed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match="'aside', 'fail', or a sink"):
        Files(tmp_path, format="csv", schema="a INT", malformed="drop")
    for wrong in (
        {"format": "parquet", "schema": "a INT"},
        {"format": "orc", "malformed": Remembered()},
        {"format": "binaryFile", "malformed": Remembered()},
        {"format": "text"},
        {"format": "csv"},
        {"format": "csv", "schema": "a INT", "options": {"MODE": "DROPMALFORMED"}},
    ):
        with pytest.raises(ConnectorError, match="nobody can tell which rows are malformed"):
            Files(tmp_path, **{"malformed": "fail", **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given",
    [
        {"format": "text"},
        {"format": "csv"},
        {"format": "json", "schema": "a INT", "malformed": "fail"},
    ],
    ids=str,
)
def test_a_compressed_file_that_breaks_off_stops_the_flow_where_nobody_is_told(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"1\n2\n")[:-1])
    source = Files(tmp_path, **given)
    end = source.latest(source.initial(), Limit())
    with pytest.raises(PermanentError, match=r"a\.gz: .*breaks off, in line 3\. Mend it"):
        source.read(Spark(), source.initial(), end)
    lenient = Files(tmp_path, format="text", options={"ignoreCorruptFiles": "true"})
    assert lenient.read(Spark(), source.initial(), end) == ["a.gz"]


@pytest.mark.parametrize("order", ORDERS)
def test_a_poll_looks_at_the_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    put(tmp_path, "a", 1)
    looks = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (looks.append(path), scan(path))[1])
    source = Files(tmp_path, order=order, watch=True)
    reader = Reader(ProcessorId("files"), source, Admission.of(Limit(files=1)), source.initial())
    arrival = reader.poll(Spark(), Looking(0.01, 1, Event()))
    assert (arrival.data, arrival.size, len(looks)) == (["a"], 8, 1)


@pytest.mark.parametrize(
    ("format", "size", "partitions"),
    [
        pytest.param(
            "parquet", 1 << 20, 2, id="few bytes once unpacked: so the runtime sees to it"
        ),
        pytest.param("parquet", 3 << 20, 1, id="little work"),
        pytest.param("parquet", 5 << 20, 2, id="much work"),
        pytest.param("text", 3 << 20, 2, id="few bytes"),
    ],
)
def test_what_the_runtime_does_in_one_task_is_not_told_twice(
    tmp_path: Path, format: str, size: int, partitions: int
) -> None:
    os.truncate(put(tmp_path, "a", 1), size)
    source = Files(tmp_path, format=format)
    end = source.latest(source.initial(), Limit())
    assert source.read(Spark(), source.initial(), end).partitions == partitions


@pytest.mark.parametrize("order", ORDERS)
def test_a_range_is_read_again_by_another_source(tmp_path: Path, order: str) -> None:
    """After a restart nothing is known but two positions."""
    for name, seconds in (("a", 1), ("b", 2), ("c", 3)):
        put(tmp_path, name, seconds)
    first = Files(tmp_path, order=order)
    start = first.latest(first.initial(), Limit(files=1))
    end = first.latest(start, Limit(files=2))
    again = Files(tmp_path, order=order)
    assert again.read(Spark(), start, end) == first.read(Spark(), start, end) == ["b", "c"]


@pytest.mark.parametrize("order", ORDERS)
def test_a_file_that_is_gone_is_told(tmp_path: Path, order: str) -> None:
    path = put(tmp_path, "a", 1)
    source = Files(tmp_path, order=order)
    end = source.latest(source.initial(), Limit())
    path.unlink()
    with pytest.raises(ConnectorError, match="'a' was read before and is gone or has changed"):
        source.read(Spark(), source.initial(), end)


def test_a_file_that_has_changed_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, "a", 1)
    source = Files(tmp_path)
    end = source.latest(source.initial(), Limit())
    os.utime(path, (2, 2))
    with pytest.raises(ConnectorError, match="has changed"):
        source.read(Spark(), source.initial(), end)


@pytest.mark.parametrize("there", [False, True], ids=["nothing", "a file"])
def test_a_folder_is_needed(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "in"
    if there:
        path.touch()
    with pytest.raises(ConnectorError, match="is not a folder"):
        Files(path).latest([0, ""], Limit())


def test_options_may_be_secrets(tmp_path: Path) -> None:
    assert "hush" not in repr(Files(tmp_path, options={"fs.s3a.secret.key": "hush"}))


def test_whoever_has_no_avro_is_told_the_package() -> None:
    """Spark's own words, without the package."""
    said = "[AVRO_DATA_SOURCE_NOT_ENABLED] Failed to find data source: avro. Avro is built-in but"
    package = "spark.jars.packages=org.apache.spark:spark-avro_2.13:4.9.0"
    session = SimpleNamespace(version="4.9.0")
    with pytest.raises(PermanentError, match=package), known_format(session, "avro"):
        raise AnalysisException(said)
    with pytest.raises(AnalysisException), known_format(session, "avro"):
        raise AnalysisException("[PATH_NOT_FOUND] Path does not exist")
