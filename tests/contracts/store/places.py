"""Places where a store can be, so that one suite holds for all of them."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.paper.flows import flow_of

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.domain import EPOCH
from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Persist
from falkirk.core.machine.ledger import Record
from falkirk.core.machine.stored import Stored
from falkirk.core.policy import batch, lazy
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.store import Reference, Store, open_store
from falkirk.store.protocol import StoreEffect
from falkirk.testing.faulty import Fault, FaultyStore

FLOW = flow_of({"a": batch(), "b": lazy(), "c": lazy()}, outputs=["c"], e="a > b", f="b > c")
"""An input that logs, a processor with state, and an output."""

A, B, C = ProcessorId("a"), ProcessorId("b"), ProcessorId("c")
E, F = EdgeId("e"), EdgeId("f")


@dataclass
class Place:
    """Where stores are opened; all that were opened are closed at the end."""

    kind: str
    address: str
    opened: list[Store] = field(default_factory=list)

    def open(self) -> Store:
        """Opens the store at this place, without taking its lease."""
        store: Store = open_store(self.address)
        if self.kind == "faulty":
            store = FaultyStore(store)
        self.opened.append(store)
        return store

    def started(self) -> Store:
        """A store that is about to be written to."""
        store = self.open()
        store.acquire()
        store.load(FLOW, Durable)
        return store

    def again(self) -> Store:
        """The store after everyone who used it is gone."""
        self.close()
        return self.started()

    def date(self, store: Store, name: str, seconds: float) -> None:
        """Makes a file look as if it had been written at this time."""
        folder = store.files.place.folder
        assert folder is not None
        os.utime(folder / name, (seconds, seconds))

    def close(self) -> None:
        """Closes all that were opened."""
        for store in self.opened:
            store.close()
        self.opened.clear()


@dataclass(frozen=True)
class Durable:
    """A batch as the runtime has it: a reference, and the port that it came in on."""

    reference: Reference | None
    label: str = ""


def upto(epoch: int) -> Any:
    """The frontier of all epochs up to this one."""
    return EPOCH.frontier([(epoch,)]) if epoch >= 0 else EPOCH.empty


def persist(
    p: str,
    epoch: int,
    records: Iterable[Record] = (),
    previous: int | None = None,
    incarnation: int = 0,
    ticket: int = 1,
    capture: bool = False,
) -> Persist:
    """A checkpoint of all epochs up to ``epoch``, after that of the epoch before."""
    before = upto(epoch - 1 if previous is None else previous)
    checkpoint = Checkpoint(upto(epoch), upto(epoch))
    name = ProcessorId(p)
    return Persist(ticket, name, incarnation, checkpoint, before, tuple(records), capture)


def stored(store: Store, p: str, verify: bool = False) -> Stored:
    """What is durable of one processor."""
    name = ProcessorId(p)
    return store.load(FLOW, Durable, [name], verify)[name]


def frontiers(store: Store, p: str, verify: bool = False) -> list[Any]:
    """The frontiers that one processor can be restored to."""
    return [checkpoint.frontier for checkpoint in stored(store, p, verify).checkpoints]


def insist(
    store: Store,
    effects: Sequence[StoreEffect],
    captures: Mapping[int, Any] | None = None,
    attempts: int = 50,
) -> None:
    """Tries again until the store takes the effects, as the runtime does."""
    for _ in range(attempts):
        try:
            store.transact(effects, captures)
            return
        except StoreError:
            time.sleep(0.001)
    raise AssertionError(f"the store did not take {effects!r}")


HARMLESS = (Fault.FAILING_COMMIT, Fault.SLOW_COMMIT)
"""Faults after which the same store can be used."""
