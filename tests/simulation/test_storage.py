"""Storage stays bounded in a run that never ends (§4.2)."""

from dataclasses import replace

import pytest
from tests.scale import scaled

from falkirk.core.machine.flow import Role
from falkirk.testing.faults import NO_FAULTS, Faults
from falkirk.testing.logic import Items
from falkirk.testing.scenarios import random_scenario
from falkirk.testing.simulator import Scenario, Simulation

pytestmark = [pytest.mark.simulation, pytest.mark.slow]

EPOCHS = 300
BACKLOG = 10


def long_scenario(seed: int) -> Scenario:
    """A random flow with many epochs of one batch each before the last of its own."""
    scenario = random_scenario(seed)
    batches: list[list[Items]] = [[((f"{epoch}.0", epoch % 4, 0),)] for epoch in range(EPOCHS)]
    return replace(scenario, inputs={p: batches + own[-1:] for p, own in scenario.inputs.items()})


def bounded(scenario: Scenario) -> bool:
    """Whether nobody has to wait until checkpoints happen to fall on the same epochs.

    Everyone who saves checkpoints logs what it sends and saves every epoch, and no loop saves any.
    Otherwise low-watermarks follow sooner or later, but nothing bounds when: the domino effect of
    uncoordinated checkpoints.
    """
    flow = scenario.flow
    inner = [each for each in flow.processors.values() if each.role is not Role.INPUT]
    return all(
        flow.restores_anywhere(each.name)
        or (
            each.policy.every == 1
            and getattr(each.domain, "depth", 1) == 1
            and all(each.policy.logs(edge.name) for edge in flow.graph.outputs(each.name))
        )
        for each in inner
    )


SEEDS = [seed for seed in range(1_000) if bounded(random_scenario(seed))][: scaled(8) + 2]


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
    assert max(rows) < 100 + 20 * len(run.names)
