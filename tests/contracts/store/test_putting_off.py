"""Collection that is put off and merged leaves the same rows as collection at once."""

from random import Random

import pytest
from tests.contracts.store.recording import Captures, See, run_with, shown
from tests.contracts.store.test_equivalence import no_batches
from tests.scale import scaled

from falkirk.core.machine.events import Collect, CollectLog, Retract
from falkirk.core.machine.flow import Flow
from falkirk.runtime.tidying import PutOff
from falkirk.store import open_store
from falkirk.store.protocol import StoreEffect
from falkirk.testing.store import SimulatedStore


@pytest.mark.parametrize("seed", range(3000, 3000 + scaled(24)))
def test_checkpoints_may_overtake_collection(seed: int) -> None:
    store, later, random = open_store("memory:"), PutOff(), Random(seed)
    compared = 0

    def begin(flow: Flow) -> See:
        store.acquire()
        store.load(flow, no_batches)

        def see(simulated: SimulatedStore, effect: StoreEffect, captures: Captures) -> None:
            nonlocal compared
            if isinstance(effect, Collect | CollectLog):
                later.put(effect)
            else:
                if isinstance(effect, Retract):
                    store.transact(later.take())
                store.transact([effect], captures)
            if random.random() < 0.1:
                store.transact(later.take())
            if not later:
                compared += 1
                found = store.load(flow, no_batches)
                for p in flow.processors:
                    assert shown(found[p]) == shown(simulated.read(p)), f"{p} after {effect!r}"

        return see

    try:
        run_with(seed, begin)
        assert compared
    finally:
        store.close()
