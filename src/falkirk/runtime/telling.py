"""What listeners are told, worked out from the events and the effects of the machine."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from falkirk.core.machine.events import (
    Acknowledge,
    Again,
    Collect,
    Delivered,
    Delivery,
    Effect,
    Event,
    Finish,
    Ingest,
    Persist,
    Persisted,
    Release,
    RolledBack,
)
from falkirk.core.times import ProcessorId
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import is_loss
from falkirk.runtime.counting import Counts, rows_of
from falkirk.runtime.history import History
from falkirk.runtime.listening import (
    LOST_EXECUTOR,
    RESTART,
    Checkpointed,
    Listener,
    Listeners,
    RollbackNotice,
    Taken,
    Tidied,
)
from falkirk.runtime.progress import epochs_between, progress_of

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver


@dataclass(frozen=True, slots=True)
class Behind:
    """A recovery, where those who went back had been, when that was, and what was replayed then."""

    notice: RollbackNotice
    former: dict[ProcessorId, Any]
    since: float
    replayed: int


class Telling:
    """Follows a driver, on its thread, and tells listeners on theirs."""

    def __init__(self, driver: "Driver", listeners: Iterable[Listener]) -> None:
        """Nothing has happened yet."""
        self.driver, self.listeners = driver, Listeners(listeners)
        self.counts = Counts(driver.blueprint.flow.scale)
        self.number = 0
        self.told_at = 0.0
        self._causes: dict[ProcessorId, tuple[str, float]] = {}
        self._writes: dict[int, tuple[Persist, float]] = {}
        self._shown: dict[tuple[ProcessorId, Any], int] = {}
        self._behind: list[Behind] = []
        self._before: dict[ProcessorId, Any] = {}
        self._by_hand = ""
        self.history = History(driver.persistence.submit, driver.store.noticeboard)
        self._removed = driver.store.files.removed_bytes

    def start(self) -> None:
        """The run begins; what the machine did to get there is told too."""
        self.listeners.tell("started", self.driver.blueprint.name)
        self.heard(None, self.driver.machine.effects)

    def end(self, error: Exception | None) -> None:
        """The run is over."""
        if self.listeners:
            self._tell_progress()
        self._catch_up()
        self.listeners.tell("ended", error)
        self.listeners.close()

    def suspect(self, processors: Iterable[ProcessorId], error: Exception) -> None:
        """Processors are taken to have failed, because of ``error``."""
        cause = LOST_EXECUTOR if is_loss(error) else f"{type(error).__name__}: {error}"
        for p in processors:
            self._causes.setdefault(p, (cause, time.monotonic()))

    def before(self, by_hand: str = "") -> None:
        """A step is about to be made that may take processors back; ``by_hand`` if people ask."""
        self._by_hand = by_hand
        standing = self.driver.machine.state.standing
        self._before = {p: each.completed for p, each in standing.items()}

    def heard(self, event: Event | None, effects: Iterable[Effect]) -> None:
        """A step was made."""
        if not self.listeners and not self._behind:
            effects = [effect for effect in effects if isinstance(effect, RolledBack)]
            event = None
        match event:
            case Finish():
                self._finished(event)
            case Ingest():
                self._ingested(event)
            case Persisted():
                for ticket in event.tickets:
                    self._durable(ticket)
            case Delivered():
                self._taken(event)
        for effect in effects:
            self._asked(effect)

    def look(self) -> None:
        """Tells how the run stands, if that is due."""
        now = time.monotonic()
        if now - self.told_at >= self.driver.options.progress_seconds:
            self.told_at = now
            if self.listeners:
                self._tell_progress()
            self._catch_up()

    def _tell_progress(self) -> None:
        progress = progress_of(self.driver, self.counts, self.number)
        self.number += 1
        self.listeners.tell("progressed", progress)

    def _catch_up(self) -> None:
        """Tells who of those that went back is where it was."""
        standing, still = self.driver.machine.state.standing, []
        for behind in self._behind:
            if all(former <= standing[p].completed for p, former in behind.former.items()):
                seconds = time.monotonic() - behind.since
                self.listeners.tell("caught_up", behind.notice, seconds)
                rows = self.counts.replayed_rows - behind.replayed
                self.history.caught_up(behind.notice, seconds, rows)
            else:
                still.append(behind)
        self._behind = still

    def _asked(self, effect: Effect) -> None:
        match effect:
            case Persist():
                self._writes[effect.ticket] = (effect, time.monotonic())
            case Acknowledge():
                self.listeners.tell("acknowledged", effect.processor, effect.frontier)
            case Collect():
                self.listeners.tell("collected", effect.processor, effect.watermark)
            case Release():
                rows = sum(rows_of(batch) or 0 for batch in effect.batches)
                self._shown[effect.processor, effect.time] = rows
            case RolledBack():
                self._rolled_back(effect)

    def tidied(self, collections: int, seconds: float) -> None:
        """The store has collected; called on its thread."""
        removed = self.driver.store.files.removed_bytes
        self.listeners.tell("tidied", Tidied(collections, removed - self._removed, seconds))
        self._removed = removed

    def _finished(self, event: Finish) -> None:
        item, p, when = event.work.item, event.work.processor, event.work.time
        batch = None
        if isinstance(item, Delivery):
            batch = item.message.batch
        elif isinstance(item, Again):
            batch = item.past.batch
        self.counts.processed(p, when, batch, isinstance(item, Again) or self._again(p, when))

    def _ingested(self, event: Ingest) -> None:
        p = event.processor
        epoch = self.driver.machine.state.standing[p].epoch
        if epoch is None:
            return
        self.counts.processed(p, (epoch,), event.batch, self._again(p, (epoch,)))
        self.counts.read(p, epoch)

    def _again(self, p: ProcessorId, when: Any) -> bool:
        """Whether an event lies where its processor had been before it went back."""
        return any(p in each.former and when in each.former[p] for each in self._behind)

    def _durable(self, ticket: int) -> None:
        if ticket not in self._writes:
            return
        persist, began = self._writes.pop(ticket)
        batches = [b for r in persist.records for b in (*r.state, *(m.batch for m in r.sent))]
        held = [batch for batch in batches if isinstance(batch, Batch)]
        self.listeners.tell(
            "checkpointed",
            Checkpointed(
                persist.processor,
                persist.checkpoint.frontier,
                sum(batch.rows or 0 for batch in held),
                sum(batch.content.size or 0 for batch in held),
                time.monotonic() - began,
            ),
        )

    def _taken(self, event: Delivered) -> None:
        rows = self._shown.pop((event.processor, event.time), 0)
        read_at = self.counts.when(event.processor, event.time)
        seconds = None if read_at is None else time.monotonic() - read_at
        self.listeners.tell("taken", Taken(event.processor, event.time, rows, seconds))

    def _rolled_back(self, effect: RolledBack) -> None:
        now = time.monotonic()
        known = [self._causes.pop(p) for p in sorted(effect.failed) if p in self._causes]
        cause, since = min(known, key=lambda each: each[1]) if known else (RESTART, now)
        if self._by_hand:
            cause, self._by_hand = self._by_hand, ""
        former = {
            p: self._before[p]
            for p, frontier in effect.frontiers.items()
            if p in self._before and not self._before[p] <= frontier
        }
        notice = RollbackNotice(
            self.history.number(),
            time.time(),
            cause,
            tuple(sorted(effect.failed)),
            dict(effect.frontiers),
            dict(effect.reasons),
            {p: epochs_between(effect.frontiers[p], before) for p, before in former.items()},
            now - since,
        )
        self.listeners.tell("rolled_back", notice)
        self.history.rolled_back(notice)
        self._behind.append(Behind(notice, former, since, self.counts.replayed_rows))
