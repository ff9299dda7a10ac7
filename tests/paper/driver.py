"""A driver for the real machine that is told every step by name, so that a test reads as a story.

The outside keeps what was ingested until it is acknowledged, and gives it again after a rollback.
The store commits a checkpoint when the story says so, and only then.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.paper.flows import items, values

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Acknowledge,
    Again,
    Close,
    Collect,
    CollectLog,
    Delivery,
    Effect,
    End,
    Event,
    Fail,
    Finish,
    Flush,
    Ingest,
    Item,
    Notification,
    Persist,
    Persisted,
    Release,
    Restore,
    Result,
    Retract,
    Rewind,
    RolledBack,
    Suspect,
    Tick,
    Trust,
    Work,
)
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.testing.logic import Context, Items, flat
from falkirk.testing.store import SimulatedStore


class Story:
    """One run of a flow, step by step."""

    def __init__(self, flow: Flow, rules: Rules = ALL_RULES, **logics: Any) -> None:
        """Nothing has happened yet."""
        self.flow, self.rules, self.logics = flow, rules, logics
        self.machine = Machine(flow, rules=rules)
        self.store = SimulatedStore(flow, rules)
        coupled = {bridge.versions for bridge in flow.latest.values()}
        self.inputs: dict[str, list[list[Items]]] = {
            p: [[]]
            for p, each in flow.processors.items()
            if each.role is Role.INPUT and p not in coupled
        }
        self.position: dict[str, tuple[int, int]] = dict.fromkeys(self.inputs, (0, 0))
        self.ended: set[str] = set()
        self.asked: list[Persist] = []
        self.offered: list[Release] = []
        self.shown: dict[str, dict[Any, Items]] = {}
        self.acknowledged: dict[str, Any] = {}
        self.effects: list[Effect] = []
        self.plan: dict[str, Any] = {}
        self.reasons: dict[str, Any] = {}
        self.done: list[tuple[str, Any]] = []
        self.captured: dict[int, Any] = {}
        self.kept: dict[str, dict[Any, Any]] = {}

    # The outside.

    def ingest(self, p: str, *given: int, label: str = "x") -> None:
        """A new batch comes in at the open epoch of ``p``."""
        self.catch_up(p)
        self.inputs[p][-1].append(items(*given, label=label))
        self.catch_up(p)

    def close(self, *names: str) -> None:
        """The open epoch of each input is complete."""
        for p in names:
            self.catch_up(p)
            self.inputs[p].append([])
            self.catch_up(p)

    def end(self, *names: str) -> None:
        """Nothing more comes in at these inputs."""
        for p in names:
            self.ended.add(p)
            self.catch_up(p)

    def catch_up(self, p: str) -> bool:
        """Ingests what was given to ``p`` and is not in the machine (any more)."""
        before = self.position[p]
        while self.machine.state.standing[p].epoch is not None:
            epoch, batch = self.position[p]
            if batch < len(self.inputs[p][epoch]):
                self.position[p] = (epoch, batch + 1)
                assert (epoch,) not in self.acknowledged.get(p, ()), "it was acknowledged"
                given = self.inputs[p][epoch][batch]
                self.step(Ingest(p, given, given[-1][1] if given else None))
            elif epoch + 1 < len(self.inputs[p]):
                self.position[p] = (epoch + 1, 0)
                self.step(Close(p))
            elif p in self.ended:
                self.step(End(p))
            else:
                break
        return self.position[p] != before

    def take_outputs(self) -> None:
        """The outside takes everything that is offered to it; the same twice is fine."""
        while self.offered:
            offer = self.offered.pop(0)
            shown = self.shown.setdefault(offer.processor, {})
            assert shown.get(offer.time, offer.batches) == offer.batches, "contradicted"
            shown[offer.time] = offer.batches
            self.step(offer.taken)

    # Work.

    def enabled(self, p: str | None = None) -> list[Item]:
        """What may be processed now."""
        return [item for item in self.machine.enabled() if p in (None, item.processor)]

    def can_notify(self, p: str, time: Any) -> bool:
        """Whether the notification may be delivered now."""
        return Notification(p, time) in self.enabled()

    def queued(self, edge: str) -> list[Any]:
        """The times of the messages that await delivery on ``edge``."""
        return [message.time for message in self.machine.state.channels.queues[edge]]

    def begin_delivery(self, p: str, edge: str, time: Any) -> Work:
        """Takes a message out of its queue, to be finished later."""
        for item in self.enabled(p):
            if isinstance(item, Delivery) and (item.message.edge, item.message.time) == (
                edge,
                time,
            ):
                return self.machine.begin(item)
        raise AssertionError(f"{p} cannot get {time} on {edge} now: {self.enabled(p)}")

    def begin_notification(self, p: str, time: Any) -> Work:
        """Begins a notification, to be finished later."""
        assert self.can_notify(p, time), f"{p} cannot be notified of {time}: {self.enabled(p)}"
        return self.machine.begin(Notification(p, time))

    def finish(self, work: Work) -> None:
        """Work is done."""
        self.step(Finish(work, self.run(work)))

    def deliver(self, p: str, edge: str, time: Any) -> None:
        """Delivers and processes a message."""
        self.finish(self.begin_delivery(p, edge, time))

    def notify(self, p: str, time: Any) -> None:
        """Delivers and processes a notification."""
        self.finish(self.begin_notification(p, time))

    def run(self, work: Work) -> Result:
        """What the processor does about an event."""
        item, p = work.item, work.processor
        self.done.append((p, work.time))
        own, visible = self.machine.own_state(work), flat(self.machine.visible_state(work))
        context = Context(self.flow, p, work.time, tuple(own), visible, Random(0))
        if isinstance(item, Delivery):
            return self.logics[p].on_message(context, item.message.edge, item.message.batch)
        if isinstance(item, Again) and item.past.edge is not None:
            return self.logics[p].on_message(context, item.past.edge, item.past.batch)
        return self.logics[p].on_notify(context)

    def work(self, *names: str) -> None:
        """Everyone, or only ``names``, works until there is nothing left to work on."""
        while chosen := [item for item in self.enabled() if not names or item.processor in names]:
            self.finish(self.machine.begin(chosen[0]))

    # The store.

    def persist_all(self, *names: str) -> None:
        """What was asked for until now, by all or by ``names``, becomes durable, in order."""
        asked, self.asked = self.asked, []
        for persist in asked:
            if names and persist.processor not in names:
                self.asked.append(persist)
            else:
                self.commit(persist)

    def commit(self, persist: Persist) -> None:
        """One checkpoint becomes durable."""
        if persist in self.asked:
            self.asked.remove(persist)
        self.store.commit(persist)
        if persist.capture:
            frontier = persist.checkpoint.frontier
            self.kept.setdefault(persist.processor, {})[frontier] = self.captured[persist.ticket]
        self.step(Persisted(persist.ticket))

    def tick(self, now: float) -> None:
        """The clock says ``now``."""
        self.step(Tick(now))

    def flush(self) -> None:
        """Checkpoints are taken of what is complete."""
        self.step(Flush())

    # Failures.

    def fail(self, *names: str) -> dict[str, Any]:
        """Processors fail; returns where everyone goes."""
        stored = {p: self.store.read(p) for p in names}
        self.step(Fail(frozenset(names), stored))
        return self.plan

    def crash(self) -> dict[str, Any]:
        """Everything fails at once, and is started again from the store."""
        self.asked, self.offered = [], []
        stored = {p: self.store.read(p) for p in self.flow.processors}
        self.machine = Machine(self.flow, stored, self.rules)
        self.carry_out(self.machine.effects)
        return self.plan

    def suspect(self, *names: str) -> None:
        """Somebody may have failed."""
        self.step(Suspect(frozenset(names)))

    def trust(self, *names: str) -> None:
        """It had not."""
        self.step(Trust(frozenset(names)))

    # Without being told.

    def one_step(self) -> None:
        """Some work, or else some writing; each call gets one step further."""
        if self.enabled():
            self.finish(self.machine.begin(self.enabled()[0]))
        elif self.asked:
            self.commit(self.asked[0])

    def settle(self) -> None:
        """Everything that can happen happens, until nothing is left."""
        for _ in range(1000):
            fed = [p for p in self.inputs if self.catch_up(p)]
            self.work()
            pending = fed or self.asked or self.offered
            self.persist_all()
            self.take_outputs()
            if not pending:
                self.flush()
                if not self.asked:
                    return
        raise AssertionError("it does not settle")

    def step(self, event: Event) -> None:
        """Tells the machine, and carries out what it asks for."""
        self.carry_out(self.machine.step(event))

    def carry_out(self, effects: list[Effect]) -> None:
        """Notes every effect; the store collects and retracts at once."""
        self.effects += effects
        for effect in effects:
            match effect:
                case Persist():
                    self.asked.append(effect)
                    if effect.capture:
                        saved = self.logics[effect.processor].checkpoint(effect.checkpoint.frontier)
                        self.captured[effect.ticket] = saved
                case Restore():
                    saved = self.kept.get(effect.processor, {}).get(effect.frontier)
                    self.logics[effect.processor].restore(effect.frontier, saved)
                case Retract():
                    self.store.retract(effect)
                case Collect() | CollectLog():
                    self.store.collect(effect)
                case Release():
                    self.offered.append(effect)
                case Acknowledge():
                    self.acknowledged[effect.processor] = effect.frontier
                case Rewind() if effect.processor in self.inputs:
                    first = int(effect.frontier[0]) + 1 if effect.frontier else 0
                    self.position[effect.processor] = (first, 0)
                    known = self.inputs[effect.processor]
                    known += [[] for _ in range(first + 1 - len(known))]
                case RolledBack():
                    self.plan, self.reasons = dict(effect.frontiers), dict(effect.reasons)

    # Questions.

    def state(self, p: str) -> dict[Any, list[int]]:
        """The state of ``p`` in memory, by time; what was folded is under None."""
        ledger = self.machine.state.ledgers[p]
        kept = {None: [batch for _, batch in ledger.base.state]}
        kept |= {time: record.state for time, record in ledger.records.items()}
        return {time: values(state) for time, state in sorted_times(kept) if state}

    def whole_state(self, p: str) -> list[int]:
        """All of the state of ``p`` in memory, whatever its times."""
        return sorted(value for kept in self.state(p).values() for value in kept)

    def saved(self, p: str) -> list[Persist]:
        """The checkpoints of ``p`` that were asked for, durable or not."""
        return [e for e in self.effects if isinstance(e, Persist) and e.processor == p]

    def logged(self, edge: str) -> list[Any]:
        """The times of the messages that are logged on ``edge`` in the store."""
        source = self.flow.graph.edges[edge].source
        return [message.time for message in self.store.ledgers[source].log(edge)]

    def watermark(self, p: str) -> Any:
        """The low-watermark of ``p``."""
        return self.machine.state.monitor.watermark(p)

    def chapter(self) -> list[tuple[str, Any]]:
        """Who processed events, and at what times, since this was last asked."""
        done, self.done = self.done, []
        return done


def sorted_times(kept: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Entries by time; the one without a time first."""
    return sorted(kept.items(), key=lambda entry: (entry[0] is not None, entry[0] or ()))
