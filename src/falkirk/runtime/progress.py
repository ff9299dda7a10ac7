"""How a run stands at one moment, as a value: what views, metrics and people look at."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from falkirk.core.machine.boundary import whole_epochs
from falkirk.core.machine.flow import Role
from falkirk.core.machine.ledger import Ledger
from falkirk.core.machine.state import State
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.runtime.batch import Batch
from falkirk.runtime.counting import Counts
from falkirk.runtime.plain import plain

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver


OPEN_MAX = 16
"""How many open times of a processor are told."""


@dataclass(frozen=True, slots=True)
class ProcessorProgress:
    """How one processor stands.

    ``completed`` are the times that are over there, ``saved`` those of its last checkpoint,
    ``watermark`` those that it will never go back behind. ``lag_seconds`` is how long ago the
    oldest epoch was read that is not complete here, 0 if all are. ``events`` and ``rows`` count
    what it has processed since the run began; of rows, those that were counted anyway. ``epoch``
    is the open epoch of an input, and ``unacknowledged`` how many of its epochs the source still
    has to keep. ``open`` are the first times at which it has done something that are not over, and
    ``rounds`` how often its loop went round in the newest complete epoch, 0 outside of loops.
    """

    role: str
    policy: str
    completed: Any
    saved: Any
    watermark: Any
    lag_seconds: float
    events: int
    rows: int
    queued: int
    state_rows: int
    state_bytes: int
    incarnation: int
    suspected: bool
    replaying: bool
    epoch: int | None = None
    unacknowledged: int = 0
    open: tuple[Any, ...] = ()
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class EdgeProgress:
    """What waits on an edge, and what its sender keeps in a log.

    ``projection`` names φ of the edge: "feedback" leads back into a loop.
    """

    source: ProcessorId
    target: ProcessorId
    queued: int
    logged: int
    projection: str = "identity"


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run stands; ``number`` counts such reports, ``at`` is a time of the day.

    ``replayed_rows`` were processed once more at times that had been complete before a failure.
    ``reclaimed_bytes`` are those of files that were deleted.
    """

    flow: str
    number: int
    at: float
    uptime_seconds: float
    processors: Mapping[ProcessorId, ProcessorProgress]
    edges: Mapping[EdgeId, EdgeProgress]
    recoveries: int
    writes_waiting: int
    releases_waiting: int
    commits: int
    replayed_rows: int = 0
    reclaimed_bytes: int = 0

    def to_json(self) -> dict[str, Any]:
        """The same as plain values, in the manner of Spark's ``lastProgress``."""
        found: dict[str, Any] = plain(self)
        return found


def progress_of(driver: "Driver", counts: Counts, number: int) -> Progress:
    """How the run of ``driver`` stands; called on its thread."""
    state, flow, now = driver.machine.state, driver.blueprint.flow, time.monotonic()
    queues = state.channels.queues
    processors = {p: progress_of_one(driver, state, counts, p, now) for p in flow.processors}
    edges = {
        name: EdgeProgress(
            edge.source,
            edge.target,
            len(queues[name]),
            logged(state.ledgers[edge.source], name),
            edge.projection.name,
        )
        for name, edge in flow.graph.edges.items()
    }
    counts.forget({p: state.monitor.watermark(p) for p in flow.processors})
    return Progress(
        driver.blueprint.name,
        number,
        time.time(),
        now - driver.started,
        processors,
        edges,
        len(driver.report.recoveries),
        driver.persistence.waiting,
        driver.outputs.waiting,
        driver.persistence.commits,
        counts.replayed_rows,
        driver.store.files.removed_bytes,
    )


def progress_of_one(
    driver: "Driver", state: State, counts: Counts, p: ProcessorId, now: float
) -> ProcessorProgress:
    """How one processor stands."""
    flow, standing, ledger = driver.blueprint.flow, state.standing[p], state.ledgers[p]
    processor = flow.processors[p]
    is_input = processor.role is Role.INPUT
    kept = list(batches_of(ledger))
    reader = driver.feeding.readers.get(p) if is_input else None
    return ProcessorProgress(
        processor.role.value,
        processor.policy.regime.value,
        standing.completed,
        standing.saved,
        state.monitor.watermark(p),
        now - (counts.since(p, standing.completed) or now),
        counts.events[p],
        counts.rows[p],
        sum(len(state.channels.queues[edge.name]) for edge in flow.graph.inputs(p)),
        sum(batch.rows or 0 for batch in kept),
        sum(batch.content.size or 0 for batch in kept),
        standing.incarnation,
        p in state.suspected,
        bool(standing.replaying),
        standing.epoch if is_input else None,
        len(reader.ends) if reader is not None else 0,
        open_times(ledger, standing.completed),
        counts.rounds(p, standing.completed),
    )


def batches_of(ledger: Ledger) -> Iterable[Batch]:
    """The batches of state that a processor holds."""
    for record in ledger.records.values():
        yield from (batch for batch in record.state if isinstance(batch, Batch))
    yield from (batch for _, batch in ledger.base.state if isinstance(batch, Batch))


def open_times(ledger: Ledger, completed: Any) -> tuple[Any, ...]:
    """The first times at which something was done that are not over."""
    found = (time for time in ledger.records if time not in completed)
    return tuple(nsmallest(OPEN_MAX, found))


def logged(ledger: Ledger, edge: EdgeId) -> int:
    """How many messages of ``edge`` could be sent again."""
    return sum(m.edge == edge for record in ledger.records.values() for m in record.sent)


def epochs_between(frontier: Any, former: Any) -> int:
    """How many epochs, or messages in sequence, lie in ``former`` and not in ``frontier``."""
    if frontier.is_top:
        return 0
    if hasattr(former, "maximal"):
        return int(max(0, whole_epochs(former) - whole_epochs(frontier)))
    return int(sum(count - frontier.count(edge) for edge, count in former.counts))
