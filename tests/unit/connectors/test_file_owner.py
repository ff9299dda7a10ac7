"""A folder has one owner: of outputs that want it at the same moment only one gets it."""

import errno
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier

import pytest

from falkirk.connectors import FileSink, ParquetSink
from falkirk.connectors.file_sink import OWNER, read_owner, write_owner
from falkirk.core.domain import EPOCH
from falkirk.core.errors import PermanentError
from falkirk.testing.contracts.sinks import some

OUTPUTS = ("w", "w2", "w3", "w4")

HOLDER = """
import sys
from pathlib import Path
from falkirk.connectors.one_at_a_time import one_at_a_time

with one_at_a_time(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("replace", [False, True])
def test_another_output_of_the_flow_is_refused_before_there_is_an_epoch(
    tmp_path: Path, replace: bool
) -> None:
    ParquetSink(tmp_path).attach("w", "store")
    with pytest.raises(PermanentError, match=r"has the output 'w' of this flow.* 'w2' a folder"):
        ParquetSink(tmp_path, replace=replace).attach("w2", "store")
    assert read_owner(tmp_path) == {"output": "w", "store": "store"}
    ParquetSink(tmp_path).attach("w", "store")


def test_what_to_delete_is_said_only_where_that_helps(tmp_path: Path) -> None:
    first = ParquetSink(tmp_path)
    first.attach("w", "store")
    with pytest.raises(PermanentError, match=rf"delete {OWNER}"):
        ParquetSink(tmp_path).attach("w2", "store")
    first.write("w", (0,), some(0))
    with pytest.raises(PermanentError) as refused:
        ParquetSink(tmp_path).attach("w2", "store")
    assert OWNER not in str(refused.value)


@pytest.mark.parametrize("left", [None, "another store"], ids=["new", "taken over"])
def test_of_several_at_the_same_moment_one_wins(tmp_path: Path, left: str | None) -> None:
    for attempt in range(25):
        folder = tmp_path / str(attempt)
        if left is not None:
            ParquetSink(folder).attach("w", left)
        barrier = Barrier(len(OUTPUTS))
        with ThreadPoolExecutor(len(OUTPUTS)) as threads:
            won = list(threads.map(attacher(folder, barrier), OUTPUTS))
        winners = [name for name, has_won in zip(OUTPUTS, won, strict=True) if has_won]
        assert [read_owner(folder)["output"]] == winners
        assert names(folder) == [OWNER]


def test_where_there_are_no_locks_the_outputs_of_one_flow_still_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", refused)
    test_of_several_at_the_same_moment_one_wins(tmp_path, None)


def attacher(folder: Path, barrier: Barrier) -> Callable[[str], bool]:
    """Attaches an output when all others do; whether it got the folder."""

    def attach(name: str) -> bool:
        barrier.wait()
        try:
            ParquetSink(folder).attach(name, "store")
        except PermanentError:
            return False
        return True

    return attach


@contextmanager
def held(path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that holds a file until it is killed."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        try:
            yield holder
        finally:
            holder.kill()


def test_another_process_is_waited_for_and_a_dead_one_is_not(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as thread, held(tmp_path / OWNER) as holder:
        attaching = thread.submit(ParquetSink(tmp_path).attach, "w", "store")
        with pytest.raises(TimeoutError):
            attaching.result(0.2)
        holder.kill()
        attaching.result(30)
    assert read_owner(tmp_path) == {"output": "w", "store": "store"}


def test_who_waited_for_a_file_that_was_replaced_waits_for_the_new_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as thread, held(tmp_path / OWNER) as first:
        attaching = thread.submit(ParquetSink(tmp_path).attach, "w", "store")
        with pytest.raises(TimeoutError):
            attaching.result(0.2)
        write_owner(tmp_path, {"output": "w", "store": "another"})
        with held(tmp_path / OWNER):
            first.kill()
            with pytest.raises(TimeoutError):
                attaching.result(0.2)
        attaching.result(30)
    assert read_owner(tmp_path) == {"output": "w", "store": "store"}


def test_a_crash_while_a_folder_was_taken_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / OWNER).touch()
    (tmp_path / f"{OWNER}.new").write_text('{"output": "w", "st')
    assert read_owner(tmp_path) is None
    ParquetSink(tmp_path).attach("w2", "store")
    assert read_owner(tmp_path) == {"output": "w2", "store": "store"}
    assert names(tmp_path) == [OWNER]


def test_what_is_refused_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "epoch=0").mkdir()
    with pytest.raises(PermanentError, match="epochs of another store"):
        ParquetSink(tmp_path).attach("w", "store")
    assert names(tmp_path) == ["epoch=0"]


def test_who_lost_an_empty_folder_to_another_store_shows_nothing_more(tmp_path: Path) -> None:
    first, second = ParquetSink(tmp_path), FileSink(tmp_path)
    first.attach("w", "one")
    second.attach("w", "two")
    with pytest.raises(PermanentError, match="was taken by the output 'w' of another run"):
        first.write("w", (0,), some(0))
    assert not (tmp_path / "epoch=0").exists()
    second.write("w", (0,), some(1))
    with pytest.raises(PermanentError, match="was taken"):
        first.write("w", (0,), some(0))
    with pytest.raises(PermanentError, match="was taken"):
        first.undo("w", EPOCH.empty)
    assert (tmp_path / "epoch=0").is_dir()
