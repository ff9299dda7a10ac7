"""The monitor equals a fresh solve while rollbacks take checkpoints back and new ones differ."""

import json
from random import Random

import pytest
from tests.properties.problems import random_problem
from tests.properties.test_monitor_against_solver import row
from tests.scale import scaled

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint
from falkirk.core.monitor import Completed, Monitor, Saved
from falkirk.core.problem import read_problem
from falkirk.core.rollback import solve

SEEDS = scaled(600)


def check(seed: int) -> int:
    """Plays announcements and rollbacks at random; returns how many rollbacks there were."""
    rng, rollbacks = Random(seed), 0
    graph, given = read_problem(json.dumps(random_problem(seed)))
    stateless = {
        p: AnyFrontier(graph.domains[p].empty, True, r.notifies, r.logs)
        for p, r in given.items()
        if isinstance(r, AnyFrontier)
    }
    monitor = Monitor(graph, stateless)
    known = {
        p: AnyFrontier(graph.domains[p].empty, True, stateless[p].notifies, stateless[p].logs)
        if p in stateless
        else Chain(graph, p, [Checkpoint(domain.empty)])
        for p, domain in graph.domains.items()
    }
    for _ in range(15):
        p = rng.choice(list(known))
        mine, offer = known[p], given[p]
        if rng.random() < 0.3:
            back = monitor.watermark(p)
            if isinstance(mine, Chain):
                back = rng.choice([f for f in mine.frontiers if back <= f])
                mine.truncate(mine.largest_inside(back) + 1)
            else:
                mine.complete = mine.complete & back
            monitor.retract(p, back)
            rollbacks += 1
        elif isinstance(mine, Chain):
            larger = [
                i
                for i, f in enumerate(offer.frontiers)
                if mine.frontiers[-1] <= f != mine.frontiers[-1]
            ]
            if not larger:
                continue
            saved = row(offer, rng.choice(larger))
            if rng.random() < 0.5:  # done again it may log what it had discarded, or the reverse
                saved = Checkpoint(
                    saved.frontier, saved.notified, saved.processed, {}, saved.projected
                )
            mine.append(saved)
            monitor.update([Saved(p, saved)])
        else:
            mine.complete = mine.complete | offer.complete
            monitor.update([Completed(p, offer.complete)])
        now, fresh = monitor.choice(), solve(graph, known)
        assert now.frontiers == fresh.frontiers
        assert now.notifications == fresh.notifications
    return rollbacks


@pytest.mark.parametrize("block", range(4))
def test_the_monitor_equals_a_fresh_solve_across_rollbacks(block: int) -> None:
    rollbacks = 0
    for seed in range(block, SEEDS, 4):
        try:
            rollbacks += check(seed)
        except AssertionError as error:
            replay = f"python -m tests.properties.test_monitor_with_rollbacks {seed}"
            raise AssertionError(f"seed {seed}; replay with: {replay}") from error
    assert rollbacks > SEEDS // 6


if __name__ == "__main__":
    import sys

    check(int(sys.argv[1]))
