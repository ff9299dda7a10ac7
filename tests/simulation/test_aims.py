"""Aimed faults meet the moments that they are for, and leave all other runs alone."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from falkirk.core.policy import eager, ephemeral, history, lazy
from falkirk.testing.aiming import AMBUSHES, ambush
from falkirk.testing.decisions import Seeded
from falkirk.testing.faults import DEATH, FAILURE, Faults
from falkirk.testing.haunting import Haunting
from falkirk.testing.interrupting import Interrupting, pairs
from falkirk.testing.returning import Returning
from falkirk.testing.scenarios import random_scenario
from falkirk.testing.severing import Severing
from falkirk.testing.simulator import Scenario, Simulation
from falkirk.testing.small import chain
from falkirk.testing.splitting import Splitting
from falkirk.testing.unwinding import Unwinding, depth_of

pytestmark = pytest.mark.simulation

RUNS = 20
ALONE = Faults(chance=0)
"""Nothing goes wrong but what is aimed."""


def suited(kind: type[Any], depth: int = 1) -> Iterator[tuple[int, Scenario]]:
    """Flows in which the moment can be."""
    for seed in range(100_000):
        scenario = random_scenario(seed)
        flow = scenario.flow
        if kind.weight(flow) and max(depth_of(flow, p) for p in flow.processors) >= depth:
            yield seed, scenario


def met(kind: type[Any], depth: int = 1) -> Counter[str]:
    """The moments that were met in runs with one aim and nothing else."""
    seen: Counter[str] = Counter()
    for _, (seed, scenario) in zip(range(RUNS), suited(kind, depth), strict=False):
        decisions = Seeded(Random(seed), ALONE)
        decisions.aimed = kind(Random(seed), scenario.flow)
        seen.update(Simulation(scenario, seed, decisions=decisions).run().seen.keys())
    return seen


@pytest.mark.parametrize(
    ("kind", "moment", "depth"),
    [
        (Interrupting, "put back while replaying", 1),
        (Interrupting, "receiver put back while replaying", 1),
        (Interrupting, "failed while replaying", 1),
        (Splitting, "snapshot durable in part", 1),
        (Unwinding, "back to a round", 2),
        (Unwinding, "back to a round of an inner loop", 3),
        (Severing, "crashed before a retraction", 1),
        (Returning, "went back below low-watermarks", 1),
    ],
)
def test_an_aim_meets_its_moment(kind: type[Any], moment: str, depth: int) -> None:
    assert met(kind, depth)[moment]


def test_who_replays_is_interrupted_more_often_than_not() -> None:
    """A chain has no other moments: what is left are runs in which the sender saves too soon."""
    scenario, found = chain(ephemeral(), [history()], lazy(), batches=(1, 1, 1)), 0
    for seed in range(RUNS):
        decisions = Seeded(Random(seed), ALONE)
        decisions.aimed = Interrupting(Random(seed), scenario.flow)
        run = Simulation(scenario, seed, decisions=decisions).run()
        found += any(key.endswith("while replaying") for key in run.seen)
    assert found > RUNS / 2


def test_who_can_put_back_whom() -> None:
    """Who saves, and sends before it has: an eager one does not."""
    flow = chain(ephemeral(), [ephemeral(), lazy(), eager(), history()], lazy()).flow
    assert pairs(flow) == [("p1", "p3"), ("in0", "p3")]


def test_ghosts_are_left_alone() -> None:
    flow = chain(ephemeral(), [history()], lazy()).flow
    assert ambush(Random(0), flow, Haunting(Random(0))) is None
    assert ambush(Random(0), flow, None) is not None


def test_a_run_without_an_ambush_stays_as_it_was() -> None:
    """Aims have random numbers of their own."""
    ambushed = 0
    for seed in range(RUNS):
        scenario, random = random_scenario(seed), Random(seed)
        first = Simulation(scenario, seed, Faults(ambushes=False)).run()
        second = Simulation(scenario, seed, Faults()).run()
        aimed = Seeded(random, Faults()).aimed
        if ambush(Random(f"ambush of {seed}"), scenario.flow, aimed) is None:
            assert first.decisions.made == second.decisions.made
        else:
            ambushed += 1
    assert 0 < ambushed < RUNS


def test_an_ambush_takes_its_faults_from_the_bag() -> None:
    decisions = Seeded(Random(0), ALONE, Random(0))
    decisions.aimed = None
    before = len(decisions.bag)
    Simulation(chain(ephemeral(), [history()], lazy()), 0, decisions=decisions).advance()
    assert decisions.aimed is not None
    assert len(decisions.bag) == before - len(decisions.aimed.takes)
    assert all(set(kind.takes) <= {FAILURE, DEATH} for kind in AMBUSHES)
