"""Cached blocks on executors: watched if they alone hold their rows, and let go.

There are two kinds. What is in no file is a local checkpoint, which is lost with an executor. What
is in a file of the store is cached by Spark as columns, once it is read again; that takes a part of
the room, and if an executor goes Spark looks into the file.

Blocks are released as soon as nothing in Python refers to them, and they are known to be lost as
soon as somebody looks: both without a job.
"""

import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Any

from falkirk.runtime.classic import Gateway
from falkirk.store.reference import Reference

LOSS_MARKS = ("CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND", "ExecutorLostFailure", "TaskResultLost")
"""What Spark says when a job fails because executors went away, and not because of its code."""


class LostBlocksError(Exception):
    """Rows were asked for that were on a lost executor and nowhere else."""


class Cached:
    """Blocks on executors and the frame that reads them; ``lost`` once one of them is gone.

    If the rows are durable the frame reads ``source``, whose file is there as long as this.
    """

    __slots__ = ("__weakref__", "blocks", "drop", "frame", "kept", "lost", "source", "wanted")

    def __init__(self, frame: Any, blocks: Any = None, source: Reference | None = None) -> None:
        """``blocks`` is the gateway's handle, None on Spark Connect."""
        self.frame, self.blocks, self.source = frame, blocks, source
        self.lost = self.wanted = self.kept = False
        self.drop: Callable[[], object] = lambda: None


class Blocks:
    """All cached blocks of one session that somebody here still refers to."""

    def __init__(self, gateway: Gateway | None) -> None:
        """No blocks; without a gateway a job has to try whether they are there."""
        self.gateway = gateway
        self.watchable = gateway is not None and not gateway.is_local
        self._live: weakref.WeakSet[Cached] = weakref.WeakSet()
        self._lock = Lock()
        self._unused: deque[Callable[[], object]] = deque()

    def executors(self) -> frozenset[str]:
        """The executors that live; none if they cannot be watched."""
        if self.gateway is None or not self.watchable:
            return frozenset()
        return self.gateway.executors()

    def stayed(self, executors: frozenset[str]) -> bool:
        """Whether ``executors`` are still there; on Spark Connect nobody can tell."""
        return self.gateway is not None and executors <= self.executors()

    def cache(self, frame: Any) -> Cached:
        """Evaluates a plan into blocks: one job."""
        self.sweep()
        checkpointed = frame.localCheckpoint(eager=True)
        blocks = self.gateway.blocks_of(checkpointed) if self.gateway is not None else None
        cached = Cached(checkpointed, blocks)
        if self.gateway is not None:
            self._let_go(cached, partial(self.gateway.release, blocks))
        with self._lock:
            self._live.add(cached)
        return cached

    def read(self, cached: Cached) -> Any:
        """The frame. Of rows in a file Spark keeps what it reads from the second time on."""
        if cached.source is not None and cached.wanted and not cached.kept:
            self.sweep()
            self._let_go(cached, partial(cached.frame.persist().unpersist, blocking=False))
            with self._lock:
                self._live.add(cached)
        cached.wanted = True
        return cached.frame

    def _let_go(self, cached: Cached, release: Callable[[], object]) -> None:
        """Has blocks released when nobody refers to them, or as soon as they are dropped."""
        # A finalizer may run anywhere, so it only takes a note.
        cached.drop = weakref.finalize(cached, self._unused.append, release)
        cached.drop.atexit = False
        cached.kept = True

    def sweep(self) -> None:
        """Releases the blocks that nobody refers to any more; several threads may do so at once."""
        while True:
            try:
                release = self._unused.popleft()
            except IndexError:
                return
            release()

    def live(self) -> list[Cached]:
        """All blocks that somebody refers to and that are not known to be lost."""
        with self._lock:
            return [cached for cached in self._live if not cached.lost]

    def probe(self) -> list[Cached]:
        """Looks at all blocks, and marks and returns those that are lost."""
        found = [cached for cached in self.live() if self.is_lost(cached)]
        for cached in found:
            cached.lost = True
        return found

    def is_lost(self, cached: Cached) -> bool:
        """Whether blocks are missing; on Spark Connect a job has to try."""
        if cached.source is not None:
            return False
        if self.gateway is not None:
            return self.gateway.are_missing(cached.blocks)
        try:
            cached.frame.count()
        except Exception as error:
            if is_loss(error):
                return True
            raise
        return False

    def close(self) -> None:
        """Releases everything: whoever would have read it is gone."""
        for cached in self.live():
            cached.drop()
            cached.lost = True
        if self.gateway is None:
            with suppress(Exception):  # a server that is gone has forgotten everything
                self.sweep()
        elif self.gateway.exit_status() is None:
            self.sweep()


def is_loss(error: BaseException) -> bool:
    """Whether an error came of lost executors: never the fault of the code that met it."""
    return any(
        isinstance(each, LostBlocksError) or any(mark in str(each) for mark in LOSS_MARKS)
        for each in chain(error)
    )


def chain(error: BaseException) -> Iterable[BaseException]:
    """An error and what it came of, the newest first."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__
