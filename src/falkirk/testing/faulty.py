"""A store in which disks fill up, files rot, commits fail and the process dies at the worst moment.

Faults come from a script, which names the writes and commits that they strike, or from a seed. What
happens is real: the file is really cut off, and the transaction is really rolled back.
"""

import errno
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from random import Random
from typing import Any

from falkirk.core.machine.flow import Flow
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId
from falkirk.store.files import Files
from falkirk.store.lease import Lease
from falkirk.store.noticeboard import Noticeboard
from falkirk.store.places import Place
from falkirk.store.protocol import Damage, Garbage, Revive, StoreEffect
from falkirk.store.store import SqlStore


class Fault(Enum):
    """What goes wrong; ``moment`` is where it strikes."""

    FULL_DISK = "full disk"
    TORN_FILE = "torn file"
    MISSING_FILE = "missing file"
    FLIPPED_BIT = "flipped bit"
    FAILING_COMMIT = "failing commit"
    SLOW_COMMIT = "slow commit"
    CRASH = "crash between the files and the row"

    @property
    def moment(self) -> str:
        """``"write"`` of a file or ``"commit"`` of a transaction."""
        return "commit" if self in _AT_COMMIT else "write"


_AT_COMMIT = (Fault.FAILING_COMMIT, Fault.SLOW_COMMIT, Fault.CRASH)


class Crashed(Exception):
    """The process would be dead now: files were written, and their row was not."""


class FaultyStore:
    """A store around ``store``, in which things go wrong.

    ``script`` has pairs of a number and a fault: the n-th write of a file or the n-th commit,
    counted from one. ``seed`` strikes each of them with probability ``rate``, by one of ``faults``.
    Files are damaged once the transaction that names them is committed, as a lying disk would.
    After a crash the store is closed: open it again.
    """

    def __init__(
        self,
        store: SqlStore,
        script: Iterable[tuple[int, Fault]] = (),
        seed: int | None = None,
        rate: float = 0.1,
        faults: Sequence[Fault] = tuple(Fault),
        slow_seconds: float = 0.05,
    ) -> None:
        """A store that is about to fail."""
        self.store, self.slow_seconds, self.rate, self.faults = store, slow_seconds, rate, faults
        self.happened: list[Fault] = []
        self._script = {(fault.moment, number): fault for number, fault in script}
        self._random = None if seed is None else Random(seed)
        self._counts = {"write": 0, "commit": 0}
        self._damages: list[tuple[str, Fault]] = []
        self._transacting: int | None = None
        store.files.fill = self._fill
        store.database.before_commit = self._before_commit

    def next_fault(self, moment: str) -> Fault | None:
        """What strikes the write or commit that is about to happen."""
        self._counts[moment] += 1
        fault = self._script.get((moment, self._counts[moment]))
        fitting = [fault for fault in self.faults if fault.moment == moment]
        if fault is None and self._random and fitting and self._random.random() < self.rate:
            fault = self._random.choice(fitting)
        if fault is not None:
            self.happened.append(fault)
        return fault

    def _fill(self, name: str, content: Any) -> None:
        fault, place = self.next_fault("write"), self.store.files.place
        if fault is Fault.FULL_DISK:
            place.fill(name, bytes(content)[: len(content) // 2])
            raise OSError(errno.ENOSPC, "No space left on device", name)
        place.fill(name, content)
        if fault is not None:
            self._damages.append((name, fault))

    def _before_commit(self) -> None:
        # The lease is renewed by a thread of its own, which no script can foresee.
        struck = self._transacting == threading.get_ident()
        fault = self.next_fault("commit") if struck else None
        if fault is Fault.FAILING_COMMIT:
            raise OSError(errno.EIO, "Input/output error")
        if fault is Fault.SLOW_COMMIT:
            time.sleep(self.slow_seconds)
        if fault is Fault.CRASH:
            raise Crashed("the process died before its transaction was committed")

    def transact(
        self, effects: Sequence[StoreEffect], captures: Mapping[int, Any] | None = None
    ) -> None:
        """Carries out all ``effects``, unless something goes wrong."""
        self._transacting = threading.get_ident()
        try:
            self.store.transact(effects, captures)
        except Crashed:
            self.store.close()
            raise
        finally:
            self._transacting = None
        while self._damages:
            unfinished, fault = self._damages.pop()
            place = self.store.files.place
            names = [name for name in place.names() if place.unfinished(name) == unfinished]
            for name in names:
                damage(place, name, fault)

    # What does not go wrong.

    @property
    def files(self) -> Files:
        """The durable batches."""
        return self.store.files

    @property
    def identity(self) -> str:
        """Tells this store from every other one."""
        return self.store.identity

    @property
    def noticeboard(self) -> Noticeboard:
        """What monitors read and write."""
        return self.store.noticeboard

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What the last load could not use, and left out."""
        return self.store.damages

    def acquire(self) -> Lease:
        """Becomes the one process that writes."""
        return self.store.acquire()

    def adopt(self, description: Mapping[str, Any]) -> None:
        """Remembers the description of the flow, or refuses one that differs from it."""
        self.store.adopt(description)

    def load(
        self,
        flow: Flow,
        revive: Revive,
        names: Iterable[ProcessorId] | None = None,
        verify: bool = False,
    ) -> dict[ProcessorId, Stored]:
        """What is durable of the processors."""
        return self.store.load(flow, revive, names, verify)

    def captured(self, processor: ProcessorId, frontier: Any) -> Any:
        """What an opaque processor gave for its checkpoint of ``frontier``."""
        return self.store.captured(processor, frontier)

    def lingering(self, names: Iterable[str]) -> bool:
        """Whether files that have lost their last use are still there."""
        return self.store.lingering(names)

    def collect_garbage(self) -> Garbage:
        """Deletes the files that no row refers to."""
        return self.store.collect_garbage()

    def close(self) -> None:
        """Lets go of everything."""
        self.store.close()


def damage(place: Place, name: str, fault: Fault) -> None:
    """Damages a file: removes it, cuts it off, or flips one bit in its middle."""
    _DAMAGES[fault](place, name)


def _tear(place: Place, name: str) -> None:
    content = place.get(name)
    place.fill(name, content[: len(content) // 2])


def _miss(place: Place, name: str) -> None:
    place.delete(name)


def _flip(place: Place, name: str) -> None:
    content = bytearray(place.get(name))
    content[len(content) // 2] ^= 1
    place.fill(name, bytes(content))


_DAMAGES: dict[Fault, Callable[[Place, str], None]] = {
    Fault.TORN_FILE: _tear,
    Fault.MISSING_FILE: _miss,
    Fault.FLIPPED_BIT: _flip,
}
