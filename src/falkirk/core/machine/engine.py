"""The machine: ``step(event) -> effects``, the same for the simulator and for Spark."""

from collections.abc import Mapping

from falkirk.core.errors import InvariantError
from falkirk.core.machine import checkpointing, delivery, latest, recovery
from falkirk.core.machine.events import (
    Again,
    Close,
    Delivered,
    Effect,
    End,
    Event,
    Fail,
    Finish,
    Flush,
    Ingest,
    Item,
    Persisted,
    Suspect,
    Tick,
    Trust,
    Work,
)
from falkirk.core.machine.flow import Batch, Flow, Role
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.machine.state import State
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId


class Machine:
    """A flow being run. The driver asks what is enabled, begins work, and reports events."""

    def __init__(
        self,
        flow: Flow,
        stored: Mapping[ProcessorId, Stored] | None = None,
        rules: Rules = ALL_RULES,
    ) -> None:
        """Starts a flow afresh, or goes on from what a store holds; ``effects`` come with that."""
        self.state = State(flow, rules)
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

    def begin(self, item: Item) -> Work:
        """Takes an enabled item to work on."""
        return delivery.begin(self.state, item)

    def visible_state(self, work: Work) -> list[Batch]:
        """The processor's state at times up to that of the work."""
        return self.state.ledgers[work.processor].state(work.time)

    def own_state(self, work: Work) -> list[Batch]:
        """The processor's state at exactly the time of the work."""
        record = self.state.ledgers[work.processor].records.get(work.time)
        return list(record.state) if record else []

    def step(self, event: Event) -> list[Effect]:
        """Takes one event and returns what must be done about it."""
        effects = self._step(event)
        return latest.carry_over(self.state, effects) if self.state.flow.latest else effects

    def _step(self, event: Event) -> list[Effect]:
        state = self.state
        match event:
            case Finish():
                if delivery.finish(state, event) and isinstance(event.work.item, Again):
                    recovery.replayed(state, event.work.processor)
                return checkpointing.look(state)
            case Ingest():
                delivery.ingest(state, event)
                return []
            case Close() | End():
                delivery.close(state, event)
                return checkpointing.look(state)
            case Persisted():
                return checkpointing.announce(state, event.ticket) + checkpointing.look(state)
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
            case Tick():
                state.now = event.now
                return checkpointing.look(state)
            case Flush():
                return checkpointing.look(state, flush=True)
        raise InvariantError(f"unknown event {event!r}")
