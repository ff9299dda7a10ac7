"""An at-least-once output repeats itself after a crash, and loses nothing."""

from falkirk.core import EPOCH, Edge, Identity
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Close,
    Collect,
    CollectLog,
    Effect,
    Finish,
    Ingest,
    Persist,
    Persisted,
    Release,
    Result,
)
from falkirk.core.machine.flow import Flow, Processor, Role
from falkirk.core.machine.rules import ALL_RULES
from falkirk.core.policy import at_least_once, lazy
from falkirk.testing.store import SimulatedStore


def test_a_crash_before_the_outside_has_taken_it_releases_it_again() -> None:
    flow = Flow(
        [
            Processor("in", EPOCH, lazy(), Role.INPUT),
            Processor("out", EPOCH, at_least_once(), Role.OUTPUT),
        ],
        [Edge("e", "in", "out", Identity(EPOCH, EPOCH))],
    )
    machine, store = Machine(flow), SimulatedStore(flow, ALL_RULES)
    durable: list[Persisted] = []
    released: list[Release] = []

    def carry_out(effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Persist):
                store.commit(effect)
                durable.append(Persisted(effect.ticket))
            elif isinstance(effect, Collect | CollectLog):
                store.collect(effect)
            elif isinstance(effect, Release):
                released.append(effect)

    carry_out(machine.step(Ingest("in", "rows", 1)))
    carry_out(machine.step(Close("in")))
    (item,) = machine.enabled()
    carry_out(machine.step(Finish(machine.begin(item), Result(state=("rows",)))))
    while durable:
        carry_out(machine.step(durable.pop(0)))
    assert released == [Release("out", (0,), ("rows",))]

    carry_out(Machine(flow, {p: store.read(p) for p in flow.processors}).effects)
    assert released == [Release("out", (0,), ("rows",))] * 2
