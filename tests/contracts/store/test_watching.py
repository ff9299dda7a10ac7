"""A monitor beside the flow finds what everyone would go back to, whenever it starts and looks."""

from dataclasses import replace
from random import Random

import pytest
from tests.contracts.store.recording import Captures, See, run_with
from tests.contracts.store.test_equivalence import no_batches
from tests.scale import scaled

from falkirk.core import AnyFrontier, Chain, Checkpoint, solve
from falkirk.core.machine.events import Retract
from falkirk.core.machine.flow import Flow
from falkirk.runtime.watching import Watcher
from falkirk.store import open_store
from falkirk.store.noticeboard import Noticeboard
from falkirk.store.noting import Note
from falkirk.store.protocol import StoreEffect
from falkirk.store.store import SqlStore
from falkirk.testing.store import SimulatedStore


def after_a_crash(flow: Flow, store: SqlStore) -> dict[str, object]:
    """Where a restart would put everyone: by definition the low-watermarks (§4.2)."""
    stored = store.load(flow, no_batches)
    offered: dict[str, Chain | AnyFrontier] = {}
    for p, domain in flow.graph.domains.items():
        if flow.restores_anywhere(p):
            offered[p] = AnyFrontier(domain.top, failed=True)
        else:
            untouched = stored[p].ledger.base.frontier.is_empty
            first = [Checkpoint(domain.empty)] if untouched else []
            offered[p] = Chain(flow.recovery, p, [*first, *stored[p].checkpoints])
    return dict(solve(flow.recovery, offered).frontiers)


def as_told(effect: StoreEffect, board: Noticeboard) -> StoreEffect:
    """An effect as a driver brings it: who goes below what was posted was asked to by a person."""
    if isinstance(effect, Retract):
        posted = board.watermarks()
        if any(p in posted and not posted[p] <= f for p, f in effect.frontiers.items()):
            return replace(effect, note=Note({}, {"what": "rollback"}))
    return effect


@pytest.mark.parametrize("seed", range(scaled(20)))
def test_old_and_new_monitors_agree_with_a_restart(seed: int) -> None:
    store, random, looks = open_store("memory:"), Random(seed), 0

    def begin(flow: Flow) -> See:
        store.acquire()
        store.load(flow, no_batches)
        board = store.noticeboard
        old = Watcher(board, flow)

        def see(simulated: SimulatedStore, effect: StoreEffect, captures: Captures) -> None:
            nonlocal looks
            store.transact([as_told(effect, board)], captures)
            if looks and random.random() < 0.8:
                return
            looks += 1
            before = board.watermarks()
            old.look()
            new = Watcher(board, flow)
            new.look()
            assert old.watermarks() == new.watermarks() == after_a_crash(flow, store)
            posted = board.watermarks()
            for p, frontier in posted.items():
                assert frontier == new.watermarks()[p]
                assert before.get(p, frontier) <= frontier

        return see

    try:
        run_with(seed, begin)
    finally:
        store.close()
    assert looks
