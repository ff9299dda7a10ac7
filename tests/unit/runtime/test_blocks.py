"""Cached blocks are let go when nobody refers to them, and known to be lost when one is missing."""

import gc
from typing import Any

import pytest

from falkirk.runtime.blocks import Blocks, Cached, LostBlocksError, is_loss
from falkirk.store.reference import Reference


class FakeGateway:
    """Blocks are numbers; some executors hold them."""

    def __init__(self, is_local: bool = False) -> None:
        """Two executors and the driver."""
        self.is_local = is_local
        self.addresses = {"driver", "one", "two"}
        self.gone: set[int] = set()
        self.released: list[int] = []
        self.status: int | None = None

    def executors(self) -> frozenset[str]:
        """Who lives."""
        return frozenset(self.addresses)

    def exit_status(self) -> int | None:
        """It runs, unless a test says otherwise."""
        return self.status

    def blocks_of(self, frame: Any) -> int:
        """A frame is its own number."""
        return int(frame.number)

    def are_missing(self, blocks: int) -> bool:
        """Whether they were taken away."""
        return blocks in self.gone

    def release(self, blocks: int) -> None:
        """Takes a note."""
        self.released.append(blocks)


class Frame:
    """A frame with a number."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.persisted: list[bool] = []

    def localCheckpoint(self, eager: bool) -> "Frame":
        """Itself."""
        return self

    def persist(self) -> "Frame":
        """Takes a note."""
        self.persisted.append(True)
        return self

    def unpersist(self, blocking: bool) -> None:
        """Takes a note."""
        assert not blocking
        self.persisted.append(False)


def blocks_on(gateway: Any) -> Blocks:
    """Blocks behind a gateway that is not there."""
    return Blocks(gateway)


def test_blocks_are_released_when_nobody_refers_to_them() -> None:
    gateway = FakeGateway()
    blocks = blocks_on(gateway)
    kept, dropped = blocks.cache(Frame(1)), blocks.cache(Frame(2))
    del dropped
    gc.collect()
    blocks.sweep()
    assert gateway.released == [2]
    assert blocks.live() == [kept]


def test_an_end_releases_everything_once() -> None:
    gateway = FakeGateway()
    blocks = blocks_on(gateway)
    kept = [blocks.cache(Frame(number)) for number in range(3)]
    blocks.close()
    assert sorted(gateway.released) == [0, 1, 2]
    assert all(cached.lost for cached in kept)


def in_a_file(number: int) -> Cached:
    """What is read from a file that the store gave."""
    return Cached(Frame(number), source=Reference(f"{number}", "folder", 1, 1, ""))


@pytest.mark.parametrize("gateway", [FakeGateway(), None])
def test_rows_in_a_file_are_kept_from_the_second_time_on(gateway: Any) -> None:
    """Who reads them twice will read them often; a message that is sent again is read once."""
    blocks, cached = blocks_on(gateway), in_a_file(1)
    frame = blocks.read(cached)
    assert frame.persisted == []
    assert blocks.read(cached) is blocks.read(cached) is frame
    assert frame.persisted == [True]
    assert blocks.live() == [cached]
    del cached
    gc.collect()
    blocks.sweep()
    assert frame.persisted == [True, False]


def test_an_end_lets_go_of_what_was_read_of_files() -> None:
    blocks, once, twice = blocks_on(FakeGateway()), in_a_file(1), in_a_file(2)
    for cached in (once, twice, twice):
        blocks.read(cached)
    blocks.close()
    blocks.close()
    assert once.frame.persisted == []
    assert twice.frame.persisted == [True, False]


def test_rows_in_a_file_are_never_lost() -> None:
    """Spark looks into the file again; without a gateway no job has to try."""
    for gateway in (FakeGateway(), None):
        blocks, cached = blocks_on(gateway), in_a_file(1)
        blocks.read(cached)
        blocks.read(cached)
        assert blocks.probe() == []
        assert not cached.lost


def test_a_probe_finds_each_loss_once() -> None:
    gateway = FakeGateway()
    blocks = blocks_on(gateway)
    first, second = blocks.cache(Frame(1)), blocks.cache(Frame(2))
    assert blocks.probe() == []
    gateway.gone.add(2)
    assert blocks.probe() == [second]
    assert (first.lost, second.lost) == (False, True)
    assert blocks.probe() == []


def test_executors_inside_the_driver_are_not_watched() -> None:
    assert blocks_on(FakeGateway(is_local=True)).executors() == frozenset()
    assert blocks_on(None).executors() == frozenset()
    assert blocks_on(FakeGateway()).executors() == {"driver", "one", "two"}


def test_whether_executors_have_stayed() -> None:
    """Else what they computed may have been counted twice; without a gateway nobody can tell."""
    gateway = FakeGateway()
    blocks = blocks_on(gateway)
    before = blocks.executors()
    gateway.addresses.add("three")
    assert blocks.stayed(before)
    gateway.addresses.remove("one")
    assert not blocks.stayed(before)
    assert not blocks_on(None).stayed(frozenset())


def test_without_a_gateway_a_job_has_to_try() -> None:
    class Remote(Frame):
        def count(self) -> int:
            if self.number:
                raise RuntimeError("[CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND] rdd_3_0 not found")
            return 0

    blocks = blocks_on(None)
    there, gone = blocks.cache(Remote(0)), blocks.cache(Remote(1))
    assert blocks.probe() == [gone]
    assert not there.lost


@pytest.mark.parametrize(
    ("error", "loss"),
    [
        (LostBlocksError("gone"), True),
        (RuntimeError("[CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND] Checkpoint block rdd_1_0"), True),
        (RuntimeError("failed 4 times: ExecutorLostFailure (executor 1 exited)"), True),
        (ValueError("seven"), False),
    ],
)
def test_errors_of_lost_executors_are_told_from_others(error: Exception, loss: bool) -> None:
    assert is_loss(error) is loss


def test_a_loss_is_recognised_behind_the_error_that_somebody_made_of_it() -> None:
    wrapped = ValueError("my job failed")
    wrapped.__cause__ = RuntimeError("CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND")
    assert is_loss(wrapped)
