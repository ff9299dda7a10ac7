"""The incremental monitor equals a fresh solve after every single update."""

import json
from random import Random

import pytest
from tests.properties.problems import random_problem
from tests.scale import scaled

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint
from falkirk.core.constraints import violations
from falkirk.core.monitor import Completed, Monitor, Saved
from falkirk.core.problem import read_problem
from falkirk.core.rollback import solve

SEEDS = scaled(1_500)


def announcements(seed: int):
    """A graph, its stateless processors, and all updates of a random problem in a random order."""
    rng = Random(seed)
    graph, restorables = read_problem(json.dumps(random_problem(seed)))
    stateless, queues = {}, []
    for p, restorable in restorables.items():
        if isinstance(restorable, AnyFrontier):
            empty = graph.domains[p].empty
            stateless[p] = AnyFrontier(empty, True, restorable.notifies, restorable.logs)
            queues.append([Completed(p, restorable.complete)])
        else:
            queues.append(
                [Saved(p, row(restorable, i)) for i in range(1, len(restorable.frontiers))]
            )
    updates = []
    while any(queues):
        updates.append(rng.choice([queue for queue in queues if queue]).pop(0))
    return graph, stateless, updates


def row(chain: Chain, i: int) -> Checkpoint:
    """The ``i``-th checkpoint of a chain."""
    return Checkpoint(
        chain.frontiers[i],
        chain.notified[i],
        {e: column[i] for e, column in chain.processed.items()},
        {e: column[i] for e, column in chain.discarded.items()},
        {e: column[i] for e, column in chain.projected.items()},
    )


def check(seed: int) -> None:
    graph, stateless, updates = announcements(seed)
    monitor = Monitor(graph, stateless)
    known = {
        p: AnyFrontier(stateless[p].complete, True, stateless[p].notifies, stateless[p].logs)
        if p in stateless
        else Chain(graph, p, [Checkpoint(domain.empty)])
        for p, domain in graph.domains.items()
    }
    before = monitor.choice().frontiers
    for update in updates:
        advance = monitor.update([update])
        if isinstance(update, Saved):
            known[update.processor].append(update.checkpoint)
        else:
            known[update.processor].complete = update.frontier
        fresh = solve(graph, known)
        now = monitor.choice()
        assert now.frontiers == fresh.frontiers
        assert now.notifications == fresh.notifications
        assert violations(now) == []
        assert all(before[p] <= now.frontiers[p] for p in before), "a low-watermark fell"
        changed = {p: f for p, f in now.frontiers.items() if f != before[p]}
        assert advance.watermarks == changed
        before = now.frontiers
    at_once = Monitor(graph, stateless)
    at_once.update(updates)
    assert at_once.choice().frontiers == before, "one batch and many updates disagree"


@pytest.mark.parametrize("block", range(10))
def test_the_monitor_equals_a_fresh_solve_after_every_update(block: int) -> None:
    for seed in range(block, SEEDS, 10):
        try:
            check(seed)
        except AssertionError as error:
            replay = f"python -m tests.properties.test_monitor_against_solver {seed}"
            raise AssertionError(f"seed {seed}; replay with: {replay}") from error


if __name__ == "__main__":
    import sys

    check(int(sys.argv[1]))
