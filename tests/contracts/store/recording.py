"""Effects of simulated runs, in the order in which the simulated store carried them out."""

from collections.abc import Callable
from typing import Any

from falkirk.core.machine.events import Collect, CollectLog, Persist, Retract
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.ledger import Base, Record
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId
from falkirk.store.protocol import StoreEffect
from falkirk.testing.case import Case
from falkirk.testing.store import SimulatedStore

Captures = dict[int, Any]
"""What goes with a checkpoint, by its ticket."""


class RecordingStore(SimulatedStore):
    """A simulated store that tells of every effect once it is carried out."""

    told: Callable[[StoreEffect, Captures], None]

    def read(self, p: ProcessorId) -> Stored:
        """What is durable of ``p``, sharing nothing with what the machine goes on to change."""
        found = super().read(p)
        found.ledger.base.closed = dict(found.ledger.base.closed)
        return found

    def commit(self, persist: Persist, captured: Any = None) -> None:
        super().commit(persist, captured)
        self.told(persist, {persist.ticket: pairs(captured)})

    def retract(self, effect: Retract) -> None:
        super().retract(effect)
        self.told(effect, {})

    def collect(self, effect: Collect | CollectLog) -> None:
        super().collect(effect)
        self.told(effect, {})


See = Callable[[SimulatedStore, StoreEffect, Captures], None]
"""Looks at the simulated store after an effect."""


def run_with(seed: int, begin: Callable[[Flow], See]) -> int:
    """Runs the case of ``seed``; what ``begin`` gives sees the store after every effect."""
    simulation = Case(seed).simulation()
    store = RecordingStore(simulation.scenario.flow, simulation.rules)
    see, count = begin(simulation.scenario.flow), 0

    def told(effect: StoreEffect, captures: Captures) -> None:
        nonlocal count
        count += 1
        see(store, effect, captures)

    store.told = told
    simulation.store = store
    simulation.run()
    return count


def pairs(captured: Any) -> Any:
    """What a simulated processor captured, by time, as a JSON value."""
    return plain(sorted(captured.items())) if isinstance(captured, dict) else captured


def plain(value: Any) -> Any:
    """Batches as JSON gives them back: tuples are lists."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def shown(stored: Stored) -> dict[str, Any]:
    """Everything that a store holds of a processor, in values that can be compared."""
    return {
        "incarnation": stored.incarnation,
        "checkpoints": stored.checkpoints,
        "base": shown_base(stored.ledger.base),
        "records": {time: shown_record(r) for time, r in stored.ledger.records.items()},
    }


def shown_base(base: Base) -> dict[str, Any]:
    """All fields of a base."""
    fields = {name: getattr(base, name) for name in Base.__slots__}
    return fields | {"state": [(time, plain(batch)) for time, batch in base.state]}


def shown_record(record: Record) -> dict[str, Any]:
    """All fields of a record; edges on which nothing was discarded do not count."""
    fields = {name: getattr(record, name) for name in Record.__slots__}
    return fields | {
        "state": plain(record.state),
        "sent": [(m.number, m.edge, m.time, m.cause, plain(m.batch)) for m in record.sent],
        "delivered": [(p.number, p.edge, plain(p.batch), p.sent) for p in record.delivered],
    }
