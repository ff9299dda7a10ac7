"""How a flow stands, from its store alone."""

from dataclasses import dataclass
from typing import Any

from falkirk.core.errors import RecoveryError
from falkirk.core.machine.flow import Role
from falkirk.core.machine.ledger import Ledger
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import Holder, Look
from falkirk.inspection.pins import Kept, pins_of
from falkirk.inspection.words import Mark, mark


@dataclass(frozen=True, slots=True)
class Standing:
    """One processor. ``files`` and ``bytes`` are what it alone or with others keeps in the store.

    ``watermark`` is None where nothing can be recovered any more.
    """

    name: str
    kind: str
    role: str
    policy: str
    location: str
    checkpoints: int
    saved: Mark
    watermark: Mark | None
    logged: int
    files: int
    bytes: int
    rollbacks: int


@dataclass(frozen=True, slots=True)
class InputStanding:
    """An input: the position that was acknowledged, and how far it was read durably."""

    name: str
    acknowledged: Mark
    acknowledged_position: Any
    read: Mark
    read_position: Any
    unacknowledged: int


@dataclass(frozen=True, slots=True)
class OutputStanding:
    """An output: ``open`` times can still change, ``leaving`` ones are final but not confirmed."""

    name: str
    released: Mark
    open: int
    leaving: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Status:
    """A flow and its store; ``monitored`` if low-watermarks are those that monitors post."""

    flow: str
    store: str
    lease: Holder
    processors: tuple[Standing, ...]
    inputs: tuple[InputStanding, ...]
    outputs: tuple[OutputStanding, ...]
    files: int
    bytes: int
    repairs: int
    trouble: str | None
    pins: tuple[Kept, ...] = ()
    recoveries: int = 0
    monitored: bool = False


def status_of(look: Look, recoveries: int = 0) -> Status:
    """How the flow of a store stands, which remembers so many ``recoveries``."""
    trouble = None
    watermarks: dict[ProcessorId, Any] = {}
    try:
        watermarks = {p: look.watermark(p) for p in look.solution.frontiers}
    except RecoveryError as error:
        trouble = str(error)
    processors = look.flow.processors
    distinct = {use.batch: use.size for use in look.uses}
    return Status(
        look.name,
        look.place,
        look.holder,
        tuple(standing(look, p, watermarks.get(p)) for p in processors),
        tuple(input_standing(look, p) for p, e in processors.items() if e.role is Role.INPUT),
        tuple(
            output_standing(look, p, watermarks.get(p))
            for p, e in processors.items()
            if e.role is Role.OUTPUT
        ),
        len(distinct),
        sum(distinct.values()),
        len(look.audit),
        trouble,
        () if trouble else tuple(pins_of(look)),
        recoveries,
        not look.embedded,
    )


def standing(look: Look, p: ProcessorId, watermark: Any) -> Standing:
    """How one processor stands."""
    graph, stored = look.flow.graph, look.stored[p]
    mine = {use.batch: use.size for use in look.uses_of.get(p, ())}
    return Standing(
        p,
        look.kind(p),
        look.flow.processors[p].role.value,
        look.policy(p),
        look.location(p),
        len(stored.checkpoints),
        mark(graph, p, look.saved(p)),
        None if watermark is None else mark(graph, p, watermark),
        sum(len(record.sent) for record in stored.ledger.records.values()),
        len(mine),
        sum(mine.values()),
        stored.incarnation,
    )


def input_standing(look: Look, p: ProcessorId) -> InputStanding:
    """How far an input was read, and how far its source may forget."""
    graph, ledger = look.flow.graph, look.stored[p].ledger
    return InputStanding(
        p,
        mark(graph, p, ledger.base.frontier),
        position_at(ledger, ledger.base.frontier),
        mark(graph, p, look.saved(p)),
        position(ledger.position()),
        sum(time not in ledger.base.frontier for time in ledger.records),
    )


def output_standing(look: Look, p: ProcessorId, watermark: Any) -> OutputStanding:
    """What an output has staged."""
    graph, ledger = look.flow.graph, look.stored[p].ledger
    staged = [time for time, record in ledger.records.items() if record.state]
    if watermark is not None and p in look.held.shown:
        watermark = watermark & look.held.shown[p]
    leaving = [time for time in staged if watermark is not None and time in watermark]
    mine = {use.batch: use.size for use in look.uses_of.get(p, ())}
    return OutputStanding(
        p,
        mark(graph, p, ledger.base.frontier),
        len(staged) - len(leaving),
        len(leaving),
        sum(mine.values()),
    )


def position_at(ledger: Ledger, frontier: Any) -> Any:
    """Where an input stood after all times in ``frontier``; None at its start."""
    kept = dict(ledger.base.state)
    kept |= {r.time: r.state[-1] for r in ledger.inside(frontier) if r.state}
    return position(kept[max(kept)]) if kept else None


def position(written: Any) -> Any:
    """A position out of the way in which it is stored."""
    return written.get("json") if isinstance(written, dict) else None
