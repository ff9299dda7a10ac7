"""Writes down what a real run told its machine, what the machine asked for, and what was stored."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from falkirk.core.machine.events import Effect, Event, Finish, Item
from falkirk.core.times import ProcessorId
from falkirk.runtime.batch import Batch
from falkirk.runtime.driver import Driver
from falkirk.store.store import SqlStore


@dataclass(frozen=True, slots=True)
class Begun:
    """An item was taken to work on."""

    item: Item


@dataclass(frozen=True, slots=True)
class Stepped:
    """The machine was told ``event``, and asked for ``effects``."""

    event: Event
    effects: list[Effect]


@dataclass(frozen=True, slots=True)
class Transacted:
    """The store carried out ``effects`` in one transaction."""

    effects: Sequence[Any]
    captures: Mapping[int, Any]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The store was asked what it holds of some processors; ``stored`` is that, in words."""

    stored: Mapping[ProcessorId, Any]


Entry = Begun | Stepped | Transacted | Loaded


@dataclass(frozen=True, slots=True)
class Loss:
    """The processors lose what they hold after ``finished`` events of ``processor``."""

    processor: str
    finished: int
    lost: frozenset[str]


class Recorder:
    """Listens to a driver, its machine and its store; makes processors fail where it is told to."""

    def __init__(self, driver: Driver, store: SqlStore, losses: Sequence[Loss]) -> None:
        """Listens from now on."""
        self.entries: list[Entry] = []
        self.driver, self.losses = driver, list(losses)
        self.machine = driver.machine
        self._finished: dict[str, int] = {}
        self._here = threading.local()
        self._begin, self._step = self.machine.begin, self.machine.step
        self._transact, self._load = store.transact, store.load
        self.machine.begin = self.begin  # type: ignore[method-assign]
        self.machine.step = self.step  # type: ignore[method-assign]
        store.transact = self.transact  # type: ignore[method-assign]
        store.load = self.load  # type: ignore[method-assign]
        store.database.before_commit = self.before_commit

    def begin(self, item: Item) -> Any:
        """Takes an item."""
        self.entries.append(Begun(item))
        return self._begin(item)

    def step(self, event: Event) -> list[Effect]:
        """Tells the machine."""
        effects = self._step(event)
        self.entries.append(Stepped(event, effects))
        if isinstance(event, Finish):
            self.finished(event.work.processor)
        return effects

    def finished(self, p: str) -> None:
        """An event of ``p`` was finished; perhaps somebody fails now."""
        self._finished[p] = self._finished.get(p, 0) + 1
        for loss in self.losses:
            if loss.processor == p and loss.finished == self._finished[p]:
                error = RuntimeError("their blocks are gone")
                self.driver.tell(self.driver.failures.lost, loss.lost, error)

    def load(self, *args: Any, **options: Any) -> Any:
        """Reads from the store, on the very thread that writes to it."""
        found = self._load(*args, **options)
        self.entries.append(Loaded({p: described(found[p], name_of) for p in sorted(found)}))
        return found

    def transact(self, effects: Sequence[Any], captures: Mapping[int, Any] | None = None) -> None:
        """Writes to the store."""
        self._here.pending = Transacted(tuple(effects), dict(captures or {}))
        try:
            self._transact(effects, captures)
        finally:
            self._here.pending = None

    def before_commit(self) -> None:
        """The transaction is noted while nobody else can read or write."""
        pending = getattr(self._here, "pending", None)
        if pending is not None:
            self.entries.append(pending)


def name_of(batch: Any) -> Any:
    """What identifies a durable batch."""
    if not isinstance(batch, Batch):
        return batch if not isinstance(batch, list) else tuple(batch)
    assert batch.reference is not None, "what comes from a store is durable"
    return batch.reference.name, batch.label


def described(stored: Any, name: Any) -> dict[str, Any]:
    """What a store holds of a processor, as plain values."""
    base = stored.ledger.base
    return {
        "incarnation": stored.incarnation,
        "checkpoints": list(stored.checkpoints),
        "base": (
            base.frontier,
            dict(base.processed),
            base.notified,
            dict(base.discarded),
            sorted(((time, name(batch)) for time, batch in base.state), key=repr),
            set(base.requests),
            dict(base.closed),
        ),
        "records": {
            time: described_record(record, name)
            for time, record in sorted(stored.ledger.records.items())
        },
    }


def described_record(record: Any, name: Any) -> tuple[Any, ...]:
    """What was stored of one time."""
    return (
        [(past.number, past.edge, name(past.batch), past.sent) for past in record.delivered],
        set(record.processed),
        record.notified,
        [name(batch) for batch in record.state],
        sorted((m.number, m.edge, m.time, m.cause, name(m.batch)) for m in record.sent),
        {edge: set(times) for edge, times in record.discarded.items() if times},
        set(record.requests),
        dict(record.first),
        dict(record.closed),
    )
