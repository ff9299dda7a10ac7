"""Files in a folder: in order, each once, and one look at the folder for a poll."""

import os
from pathlib import Path
from typing import Any

import pytest

from falkirk.connectors import Files
from falkirk.core.errors import ConnectorError
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.inputs import Reader

ORDERS = ["name", "modified"]


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

    def load(self, paths: Any) -> list[str]:
        """The names of the files that are read."""
        return [Path(path).name for path in ([paths] if isinstance(paths, str) else paths)]


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


@pytest.mark.parametrize("order", ORDERS)
def test_a_poll_looks_at_the_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    put(tmp_path, "a", 1)
    looks = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (looks.append(path), scan(path))[1])
    source = Files(tmp_path, order=order, watch=True)
    reader = Reader("files", source, Limit(files=1), source.initial())  # type: ignore[arg-type]
    arrival = reader.poll(Spark())
    assert (arrival.data, arrival.size, len(looks)) == (["a"], 8, 1)


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
