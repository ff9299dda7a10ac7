"""After every effect of a simulated run, a store holds what the simulated store holds."""

from collections.abc import Callable

import pytest
from tests.contracts.store.places import HARMLESS, Place, insist
from tests.contracts.store.recording import Captures, See, pairs, run_with, shown
from tests.scale import scaled

from falkirk.core.machine.flow import Flow
from falkirk.store import Store, open_store
from falkirk.store.protocol import StoreEffect
from falkirk.testing.faulty import FaultyStore
from falkirk.testing.store import SimulatedStore


def comparing(store: Store) -> Callable[[Flow], See]:
    """Carries effects out on ``store``, too, and compares."""

    def begin(flow: Flow) -> See:
        store.acquire()
        store.load(flow, no_batches)

        def see(simulated: SimulatedStore, effect: StoreEffect, captures: Captures) -> None:
            insist(store, [effect], captures)
            found = store.load(flow, no_batches)
            for p in flow.processors:
                for frontier, captured in simulated.captures[p].items():
                    assert store.captured(p, frontier) == pairs(captured)
                assert shown(found[p]) == shown(simulated.read(p)), f"{p} after {effect!r}"

        return see

    return begin


def no_batches(*_: object) -> None:
    raise AssertionError("simulated batches are plain values")


@pytest.mark.parametrize("seed", range(scaled(24)))
def test_a_simulated_run_is_stored_alike(seed: int) -> None:
    store = open_store("memory:")
    try:
        run_with(seed, comparing(store))
    finally:
        store.close()


@pytest.mark.parametrize("seed", range(1000, 1000 + max(1, scaled(3))))
def test_in_every_place(lasting: Place, seed: int) -> None:
    store = lasting.open()
    if isinstance(store, FaultyStore):
        store = FaultyStore(store.store, seed=seed, rate=0.2, faults=HARMLESS, slow_seconds=0.001)
    assert run_with(seed, comparing(store)) > 0


@pytest.mark.parametrize("seed", range(2000, 2000 + scaled(10)))
def test_many_effects_in_one_transaction(seed: int) -> None:
    """Group commit: what matters is the order of effects, not where transactions end."""
    store = open_store("memory:")
    waiting: list[StoreEffect] = []
    captured: Captures = {}
    seen: list[SimulatedStore] = []
    flows: list[Flow] = []

    def begin(flow: Flow) -> See:
        store.acquire()
        store.load(flow, no_batches)
        flows.append(flow)

        def see(simulated: SimulatedStore, effect: StoreEffect, captures: Captures) -> None:
            seen[:] = [simulated]
            waiting.append(effect)
            captured.update(captures)
            if len(waiting) == 7:
                store.transact(waiting, captured)
                waiting.clear()

        return see

    try:
        run_with(seed, begin)
        store.transact(waiting, captured)
        found = store.load(flows[0], no_batches)
        for p in flows[0].processors:
            assert shown(found[p]) == shown(seen[0].read(p))
    finally:
        store.close()
