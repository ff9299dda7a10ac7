"""Storage stays bounded in a run that never ends (§4.2)."""

from dataclasses import replace

import pytest
from tests.simulation.scale import scaled

from falkirk.testing.faults import NO_FAULTS, Faults
from falkirk.testing.logic import Delay, Items, Turn
from falkirk.testing.scenarios import random_scenario
from falkirk.testing.simulator import Scenario, Simulation

pytestmark = pytest.mark.simulation

EPOCHS = 200
BACKLOG = 10


def long_scenario(seed: int) -> Scenario:
    """A random flow with many epochs of one batch each before the last of its own."""
    scenario = random_scenario(seed)
    batches: list[list[Items]] = [[((f"{epoch}.0", epoch % 4, 0),)] for epoch in range(EPOCHS)]
    return replace(scenario, inputs={p: batches + own[-1:] for p, own in scenario.inputs.items()})


def bounded(scenario: Scenario) -> bool:
    """Whether low-watermarks can be relied on to follow.

    Who sends into the next epoch, or around a loop, and neither logs that nor does without
    checkpoints, cannot keep one time without the next: nothing is final before things happen to be
    quiet, whatever the machine does (the domino effect of §3.6).
    """
    flow = scenario.flow
    return all(
        policy.logs(edge.name) or flow.restores_anywhere(p)
        for p, logic in scenario.logics.items()
        for policy in [flow.processors[p].policy]
        for edge in flow.graph.outputs(p)
        if isinstance(logic, Delay | Turn) or getattr(flow.graph.domains[p], "depth", 1) > 1
    )


SEEDS = [seed for seed in range(100) if bounded(random_scenario(seed))][: scaled(8) + 2]


def rows_over_time(run: Simulation) -> list[int]:
    """How much is stored, every few steps."""
    rows = []
    while run.advance():
        if run.steps % 25 == 0:
            rows.append(run.store.rows())
    run.check()
    return rows


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("faults", [NO_FAULTS, Faults(4, 2, 2, 2, chance=0.002)], ids=["no", "few"])
def test_what_is_stored_does_not_grow_with_the_epochs(seed: int, faults: Faults) -> None:
    run = Simulation(long_scenario(seed), seed, faults, backlog=BACKLOG)
    rows = rows_over_time(run)
    early, late = rows[: len(rows) // 4], rows[len(rows) // 4 :]
    assert max(late) <= 2 * max(early) + 10 * len(run.names)
    assert max(rows) < 40 * len(run.names)
