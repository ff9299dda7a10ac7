"""What the runtime asks of a store, and what a store answers with."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from falkirk.core.machine.events import Collect, CollectLog, Persist, Retract
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId
from falkirk.store.files import Files
from falkirk.store.lease import Lease
from falkirk.store.noticeboard import Noticeboard
from falkirk.store.noting import Note
from falkirk.store.reference import Reference

StoreEffect = Persist | Retract | Collect | CollectLog | Note
"""What the machine asks a store to do, and what is noted there besides."""

Revive = Callable[[Reference, str], Any]
"""Makes a batch of a reference and its label."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was deleted: files and folders that no row referred to."""

    files: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Damage:
    """A durable batch that cannot be read, and what that costs.

    ``times`` are those of the processor's records that need it, and None stands for what is folded
    below its low-watermark. ``checkpoints`` are the frontiers that cannot be restored.
    """

    processor: ProcessorId
    file: str
    problem: str
    times: tuple[Any, ...]
    checkpoints: tuple[Any, ...]


class Store(Protocol):
    """Durable ledgers and batches of one flow."""

    @property
    def files(self) -> Files:
        """The durable batches."""

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What the last :meth:`load` could not use, and left out."""

    @property
    def identity(self) -> str:
        """Tells this store from every other one, also from one that was here before."""

    @property
    def noticeboard(self) -> Noticeboard:
        """What monitors read and write."""

    def acquire(self) -> Lease:
        """Becomes the one process that writes, or raises a StoreError that names who is."""

    def adopt(self, description: Mapping[str, Any]) -> None:
        """Remembers the description of the flow, or refuses one that differs from it."""

    def load(
        self,
        flow: Flow,
        revive: Revive,
        names: Iterable[ProcessorId] | None = None,
        verify: bool = False,
    ) -> dict[ProcessorId, Stored]:
        """What is durable of the processors; ``verify`` reads every file to check it."""

    def transact(
        self, effects: Sequence[StoreEffect], captures: Mapping[int, Any] | None = None
    ) -> None:
        """Carries out all ``effects`` in order, in one transaction: all of them or none."""

    def captured(self, processor: ProcessorId, frontier: Any) -> Any:
        """What an opaque processor gave for its checkpoint of ``frontier``; None for ∅."""

    def lingering(self, names: Iterable[str]) -> bool:
        """Whether files that have lost their last use are still there, for somebody holds them."""

    def collect_garbage(self) -> Garbage:
        """Deletes the files that no row refers to and that nobody here holds."""

    def close(self) -> None:
        """Gives up the lease and lets go of everything."""
