"""The machine: ``step(event) -> effects``, the same for the simulator and for Spark."""

from collections.abc import Mapping, Sequence
from typing import Any

from falkirk.core.errors import InvariantError
from falkirk.core.machine import (
    checkpointing,
    compaction,
    delivery,
    latest,
    recovery,
    repair,
    replay,
)
from falkirk.core.machine.events import (
    Again,
    Close,
    Compacted,
    Delivered,
    Effect,
    End,
    Event,
    Fail,
    Finish,
    Flush,
    GoBack,
    Ingest,
    Item,
    Persisted,
    Pin,
    PutBack,
    Suspect,
    Tick,
    Trust,
    Work,
)
from falkirk.core.machine.flow import Batch, Flow, Role
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.machine.state import Gather, State, as_they_are
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId


class Machine:
    """A flow being run. The driver asks what is enabled, begins work, and reports events."""

    def __init__(
        self,
        flow: Flow,
        stored: Mapping[ProcessorId, Stored] | None = None,
        rules: Rules = ALL_RULES,
        gather: Gather = as_they_are,
        pinned: Pin | None = None,
    ) -> None:
        """Starts a flow afresh, or goes on from what a store holds; ``effects`` come with that.

        What is ``pinned`` is kept from the start.
        """
        monitor = None if stored is None else recovery.monitor_of(flow, stored)
        self.state = State(flow, rules, monitor)
        if pinned is not None:
            repair.bound(self.state, pinned)
        self.state.gather = gather
        self.effects: list[Effect] = []
        if stored is not None:
            self.effects = recovery.restart(self.state, stored)
            if flow.latest:
                self.effects = latest.carry_over(self.state, self.effects)
        else:
            for p, processor in flow.processors.items():
                if processor.role is Role.INPUT:
                    self.state.standing[p].epoch = 0
            self.state.recount()

    def enabled(self) -> list[Item]:
        """Everything that may be processed now; the driver is free to choose."""
        return delivery.enabled(self.state)

    def is_enabled(self, item: Item) -> bool:
        """Whether one of them may still be processed, after others were begun or finished."""
        return delivery.is_enabled(self.state, item)

    def successor(self, item: Item) -> Item | None:
        """What comes next on the edge and at the time of a delivery, if it may be processed now."""
        return delivery.successor(self.state, item)

    def begin(self, item: Item) -> Work:
        """Takes an enabled item to work on."""
        return delivery.begin(self.state, item)

    def visible_state(self, work: Work) -> list[Batch]:
        """The processor's state at times up to that of the work."""
        return self.state.ledgers[work.processor].state(work.time)

    def earlier_state(self, work: Work) -> list[tuple[Any, Sequence[Batch]]]:
        """The same state without ``own_state``, what was kept at a time together."""
        return self.state.ledgers[work.processor].earlier(work.time)

    def own_state(self, work: Work) -> list[Batch]:
        """What events at exactly the time of the work have kept."""
        record = self.state.ledgers[work.processor].records.get(work.time)
        return list(record.state) if record else []

    def position(self, p: ProcessorId) -> Any:
        """Where in its source the input ``p`` stands; None if it was never told."""
        return self.state.ledgers[p].position()

    def compactable(self, p: ProcessorId) -> list[compaction.Group]:
        """Folded state that nobody can tell apart any more, in groups; see :class:`Compacted`."""
        return compaction.compactable(self.state, p)

    def step(self, event: Event) -> list[Effect]:
        """Takes one event and returns what must be done about it."""
        effects = self._step(event)
        return latest.carry_over(self.state, effects) if self.state.flow.latest else effects

    def _step(self, event: Event) -> list[Effect]:
        state = self.state
        match event:
            case Finish():
                if delivery.finish(state, event) and isinstance(event.work.item, Again):
                    replay.replayed(state, event.work.processor)
                return checkpointing.look(state)
            case PutBack():
                delivery.put_back(state, event)
                return []
            case Ingest():
                delivery.ingest(state, event)
                return []
            case Close() | End():
                delivery.close(state, event)
                return checkpointing.look(state)
            case Persisted():
                return checkpointing.announce(state, *event.tickets) + checkpointing.look(state)
            case Delivered():
                return checkpointing.delivered(state, event)
            case Suspect():
                state.suspected |= event.processors
                return []
            case Trust():
                state.suspected -= event.processors
                return []
            case Fail():
                return recovery.fail(state, event.processors, event.stored) + checkpointing.look(
                    state
                )
            case Pin():
                return repair.pin(state, event)
            case GoBack():
                return repair.go_back(state, event) + checkpointing.look(state)
            case Tick():
                state.now = event.now
                state.progress.stale.update(state.flow.timed)
                return checkpointing.look(state)
            case Flush():
                return checkpointing.look(state, flush=True)
            case Compacted():
                return compaction.compact(state, event)
        raise InvariantError(f"unknown event {event!r}")
