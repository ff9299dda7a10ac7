"""Cached blocks on executors: made by a checkpoint that only they hold, watched, and let go.

Blocks are released as soon as nothing in Python refers to them, and they are known to be lost as
soon as somebody looks: both without a job.
"""

import weakref
from collections import deque
from collections.abc import Iterable
from threading import Lock
from typing import Any

from falkirk.runtime.classic import Gateway

LOSS_MARKS = ("CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND", "ExecutorLostFailure", "TaskResultLost")
"""What Spark says when a job fails because executors went away, and not because of its code."""


class LostBlocksError(Exception):
    """Rows were asked for that were on a lost executor and nowhere else."""


class Cached:
    """Blocks on executors and the frame that reads them; ``lost`` once one of them is gone."""

    __slots__ = ("__weakref__", "blocks", "frame", "lost")

    def __init__(self, frame: Any, blocks: Any) -> None:
        """``blocks`` is the gateway's handle, None on Spark Connect."""
        self.frame, self.blocks = frame, blocks
        self.lost = False


class Blocks:
    """All cached blocks of one session that somebody here still refers to."""

    def __init__(self, gateway: Gateway | None) -> None:
        """No blocks; without a gateway a job has to try whether they are there."""
        self.gateway = gateway
        self.watchable = gateway is not None and not gateway.is_local
        self._live: weakref.WeakSet[Cached] = weakref.WeakSet()
        self._lock = Lock()
        self._unused: deque[Any] = deque()

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
        return self._register(frame.localCheckpoint(eager=True))

    def _register(self, frame: Any) -> Cached:
        blocks = self.gateway.blocks_of(frame) if self.gateway is not None else None
        cached = Cached(frame, blocks)
        if blocks is not None:
            # A finalizer may run anywhere, so it only takes a note.
            weakref.finalize(cached, self._unused.append, blocks).atexit = False
        with self._lock:
            self._live.add(cached)
        return cached

    def sweep(self) -> None:
        """Releases the blocks that nobody refers to any more."""
        while self.gateway is not None and self._unused:
            self.gateway.release(self._unused.popleft())

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
            if cached.blocks is not None:
                self._unused.append(cached.blocks)
            cached.lost = True
        if self.gateway is not None and self.gateway.exit_status() is None:
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
