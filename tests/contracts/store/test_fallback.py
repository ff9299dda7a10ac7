"""Damage sends recovery back to an older consistent frontier, and the next run goes on from it."""

import pytest
from tests.contracts.store.places import (
    FLOW,
    A,
    B,
    C,
    Durable,
    E,
    F,
    Place,
    frontiers,
    upto,
)
from tests.contracts.store.test_batches import written

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.domain import EPOCH
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Collect, Persist, Retract, RolledBack
from falkirk.core.machine.ledger import Record
from falkirk.core.machine.message import Message
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.store import Store
from falkirk.testing.faulty import Fault, damage

EPOCHS = 4


def run(store: Store) -> dict[int, Durable]:
    """Every processor has stored some epochs; the states of ``b`` are durable batches."""
    states = {}
    for i in range(EPOCHS):
        f, before = upto(i), upto(i - 1)
        states[i] = written(store)
        sent = Message(i + 1, E, (i,), (i,), written(store))
        xi: dict[ProcessorId, tuple[Checkpoint, Record]] = {
            A: (Checkpoint(f, f, {}, {E: EPOCH.empty}), Record((i,), sent=[sent])),
            B: (Checkpoint(f, f, {E: f}, {F: f}), Record((i,), state=[states[i]])),
            C: (Checkpoint(f, f, {EdgeId("f"): f}), Record((i,))),
        }
        store.transact([Persist(i, p, 0, x, before, (record,)) for p, (x, record) in xi.items()])
    return states


def restarted(store: Store) -> tuple[RolledBack, Retract]:
    """What the machine decides, given what the store still has."""
    machine = Machine(FLOW, store.load(FLOW, Durable, verify=True))
    went, retract = machine.effects[:2]
    assert isinstance(went, RolledBack)
    assert isinstance(retract, Retract)
    return went, retract


@pytest.mark.parametrize("lost", range(EPOCHS))
def test_recovery_goes_back_before_the_damage(lasting: Place, lost: int) -> None:
    store = lasting.started()
    states = run(store)
    damage(store.files.place, states[lost].reference.name, Fault.FLIPPED_BIT)
    del states
    store = lasting.again()
    went, retract = restarted(store)
    # What b lost is in the log of a, which stays where it is; the output must agree with b.
    assert went.frontiers == {A: upto(EPOCHS - 1), B: upto(lost - 1), C: upto(lost - 1)}
    assert len(store.damages) == 1
    store.transact([retract])
    assert frontiers(store, "b", verify=True) == [upto(i) for i in range(lost)]
    assert store.damages == ()
    assert restarted(lasting.again())[0].frontiers == went.frontiers


def test_damage_below_the_watermark_is_told(lasting: Place) -> None:
    store = lasting.started()
    states = run(store)
    store.transact([Collect(B, upto(1), ((0,), (1,)), (((0,), states[0]), ((1,), states[1])))])
    damage(store.files.place, states[1].reference.name, Fault.TORN_FILE)
    store = lasting.again()
    found = store.load(FLOW, Durable)
    assert found[B].checkpoints == ()
    assert store.damages[0].times == (None,)
