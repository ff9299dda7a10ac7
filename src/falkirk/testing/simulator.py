"""The simulator: one seed decides the schedule, the delays, the failures; the outside is checked.

It drives the same machine that Spark drives, and plays everything around it: who computes, the
store, the outside. At every step something goes wrong or a move is made; ``decisions`` say which.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Acknowledge,
    Collect,
    CollectLog,
    Compacted,
    Delivered,
    Effect,
    Event,
    Flush,
    Persist,
    Persisted,
    Pin,
    Release,
    Restore,
    Retract,
    Rewind,
    RolledBack,
    Tick,
    Work,
)
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.recovery import plan
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.times import ProcessorId
from falkirk.testing.check import Complaints, Guard
from falkirk.testing.decisions import Decisions, Move, Seeded
from falkirk.testing.faults import Faults
from falkirk.testing.logic import Items
from falkirk.testing.moves import make, possible
from falkirk.testing.opaque import Memory, capture
from falkirk.testing.outside import check_outside
from falkirk.testing.store import SimulatedStore
from falkirk.testing.striking import strike
from falkirk.testing.transcript import Entry, transcript
from falkirk.testing.world import Scenario, Violation, World

__all__ = ["Faults", "Scenario", "Simulation", "Violation"]
BESIDE = (Persisted, Delivered, Compacted, Tick, Flush)
"""Events after which there is nothing else to be processed than before, unless sends waited."""
FREE = Pin({})
"""Nothing is pinned."""


class Simulation:
    """One run. ``seen`` counts the situations that it went through."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        faults: Faults | None = None,
        rules: Rules = ALL_RULES,
        *,
        decisions: Decisions | None = None,
        strict: bool = True,
        backlog: int | None = None,
    ) -> None:
        """A run that is about to start.

        ``decisions`` replaces those of the seed. A run that is not ``strict`` remembers the inner
        laws that were broken in ``complaints`` and goes on, to see whether the outside notices.
        ``backlog`` is how many things may wait to be done while more input is read.
        """
        self.scenario, self.rules, self.backlog = scenario, rules, backlog
        self.decisions = decisions or Seeded(
            Random(seed), faults or Faults(), Random(f"ambush of {seed}")
        )
        self.random = Random(seed)
        self.names: list[ProcessorId] = list(scenario.flow.processors)
        self.world = World(scenario)
        self.complain = Complaints(strict)
        self.guard = Guard(scenario, self.world, self.complain)
        self.store = SimulatedStore(scenario.flow, rules)
        self.machine = Machine(scenario.flow, rules=rules)
        self.entries: list[Entry] = []
        self.seen: Counter[str] = Counter()
        self.steps = self.now = 0
        self.flushed = False
        self.pin = FREE
        self.frontiers: Mapping[ProcessorId, Any] = {}
        self.forget()

    def forget(self) -> None:
        """Nothing is under way: at the start, and after a crash."""
        self.works: list[Work] = []
        self.late: list[Work] = []
        self.writes: list[Persist] = []
        self.collections: list[Collect | CollectLog] = []
        self.compactable: list[ProcessorId] = []
        self.compacting: list[Compacted] = []
        self.releases: list[Release] = []
        self.retractions: list[Retract] = []
        self.outage = 0
        self.memory: Memory = {}
        self.captured: dict[int, dict[Any, Items]] = {}
        self.reading: dict[ProcessorId, list[Items]] = {}
        self.acknowledgements: deque[Event] = deque(maxlen=4)
        self._beginnings: list[Move] | None = None

    # The run.

    def run(self, limit: int = 20_000) -> "Simulation":
        """Runs until nothing is left to do, then checks what the outside saw."""
        while self.advance():
            if self.steps > limit:
                raise Violation("the run does not end")
        self.check()
        return self

    def advance(self) -> bool:
        """One fault or one move; False when there is nothing left to do."""
        self.steps += 1
        fault = self.decisions.fault(self)
        if fault is not None:
            self.flushed = False
            strike(self, fault)
            return True
        moves = possible(self)
        if self.outage:
            self.outage -= 1
            if not moves or not self.outage:
                self.store_is_back()
                return True
        if moves:
            make(self, moves[self.decisions.pick(moves)])
            return True
        return self.flush()

    def store_is_back(self) -> None:
        """An outage is over: first of all timelines are retracted."""
        self.outage = 0
        while self.retractions:
            self.store.retract(self.retractions.pop(0))

    def flush(self) -> bool:
        """When all is quiet, lets go what is pinned and asks for the last checkpoints.

        False if that changed nothing.
        """
        if self.pin.kept:
            self.pin_to(FREE)
            return True
        if self.flushed:
            return False
        self.step(Flush())
        self.flushed = not (self.writes or self.collections)
        return True

    def pin_to(self, pin: Pin) -> None:
        """Somebody wants to be able to go back there, and no longer elsewhere."""
        self.pin, self.flushed = pin, False
        self.step(pin)

    def check(self) -> None:
        """What must hold at the end."""
        check_outside(self.scenario, self.world)
        self.guard.finish(self.machine.state)

    # Steps and effects.

    def step(self, event: Event) -> None:
        """Tells the machine, and does what it asks for."""
        self.entries.append(("event", event))
        if not isinstance(event, BESIDE) or self.scenario.flow.latest:
            self.changed()
        effects = self.machine.step(event)
        if effects:
            self.carry_out(effects)

    def acknowledge(self, event: Event) -> None:
        """Tells the machine of something that might be told twice."""
        self.acknowledgements.append(event)
        self.step(event)

    def carry_out(self, effects: list[Effect]) -> None:
        """Does what the machine asks for, now or later."""
        asked = 0
        for effect in effects:
            self.entries.append(("effect", effect))
            match effect:
                case Persist():
                    asked += 1
                    self.writes.append(effect)
                    if effect.capture:
                        self.captured[effect.ticket] = capture(self.memory, effect)
                case Retract():
                    if self.outage:
                        self.retractions.append(effect)
                    else:
                        self.store.retract(effect)
                case Restore():
                    held = self.store.captures[effect.processor].get(effect.frontier, {})
                    self.memory[effect.processor] = dict(held)
                    self.seen["own state restored"] += 1
                case Collect() | CollectLog():
                    self.collections.append(effect)
                    if isinstance(effect, Collect) and len(effect.state) > 1:
                        self.may_compact(effect.processor)
                case Release():
                    self.releases.append(effect)
                case Acknowledge():
                    self.world.acknowledge(effect.processor, int(effect.frontier[0]))
                case Rewind():
                    self.reading.pop(effect.processor, None)
                case RolledBack():
                    self.rolled_back(effect)
        if len(effects) > asked:
            self.guard.watch(self.machine.state)

    def may_compact(self, p: ProcessorId) -> None:
        """There is folded state of ``p`` that could be made smaller."""
        if p not in self.compactable:
            self.compactable.append(p)

    def rolled_back(self, effect: RolledBack) -> None:
        """Work of processors that moved goes on, for nothing."""
        running = self.machine.state.running
        self.late += [work for work in self.works if work.number not in running]
        self.works = [work for work in self.works if work.number in running]
        self.frontiers = effect.frontiers
        self.guard.rollback(self.machine.state, effect)

    # What others ask of a run.

    def beginnings(self) -> list[Move]:
        """The moves that begin what the machine offers, asked only when it has changed."""
        if self._beginnings is None:
            self._beginnings = [("begin", item) for item in self.machine.enabled()]
        return self._beginnings

    def changed(self) -> None:
        """The machine is about to change."""
        self._beginnings = None

    @property
    def complaints(self) -> list[str]:
        """The inner laws that were broken."""
        return self.complain.found

    def transcript(self) -> list[str]:
        """What happened, in words."""
        return transcript(self.entries)

    @property
    def flow(self) -> Flow:
        """The flow that is run."""
        return self.scenario.flow

    @property
    def replaying(self) -> list[ProcessorId]:
        """The processors whose history is being run again."""
        return [p for p, standing in self.machine.state.standing.items() if standing.replaying]

    @property
    def repeatable(self) -> int:
        """How many acknowledgements could come a second time."""
        return len(self.acknowledgements)

    def saves(self, p: ProcessorId) -> int:
        """How many checkpoints of ``p`` are durable."""
        return len(self.store.checkpoints[p])

    def left(self, p: ProcessorId) -> int:
        """How many events of its history ``p`` has still to begin again."""
        return len(self.machine.state.standing[p].restoring)

    def past(self, p: ProcessorId, frontier: Any) -> int:
        """How many events of the history of ``p`` lie inside ``frontier``."""
        records = self.machine.state.ledgers[p].inside(frontier)
        return sum(len(record.delivered) for record in records)

    def plan(self, failed: Iterable[ProcessorId]) -> Mapping[ProcessorId, Any]:
        """Where everybody would go back to if ``failed`` failed now; nothing is changed."""
        return plan(self.machine.state, frozenset(failed)).frontiers

    def risen(self) -> bool:
        """Whether a low-watermark of somebody who saves has left what is pinned."""
        kept, watermark = self.pin.kept, self.machine.state.monitor.watermark
        return any(p in kept and not watermark(p) <= kept[p] for p in self.guard.chained)
