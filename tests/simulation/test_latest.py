"""The latest bridge under failures: each fast item is answered once, by a version that existed."""

from random import Random

import pytest
from tests.scale import scaled

from falkirk.core.domain import EPOCH
from falkirk.core.graph import Edge
from falkirk.core.machine.flow import Flow, Latest, Processor, Role
from falkirk.core.machine.recovery import live_metadata
from falkirk.core.policy import batch, eager, ephemeral, history, lazy
from falkirk.core.projection import Identity
from falkirk.testing.crossing import Join
from falkirk.testing.logic import Stage, Total
from falkirk.testing.simulator import Faults, Scenario, Simulation

pytestmark = pytest.mark.simulation
SLOW_EPOCHS = 3


def scenario(seed: int) -> Scenario:
    """A slow running total whose versions a fast stream is joined with."""
    random = Random(seed)
    processors = [
        Processor("slow", EPOCH, random.choice((ephemeral(), batch())), Role.INPUT),
        Processor("total", EPOCH, random.choice((lazy(1), lazy(2), eager(), history()))),
        Processor("published", EPOCH, random.choice((lazy(1), eager())), Role.OUTPUT),
        Processor("fast", EPOCH, random.choice((ephemeral(), batch())), Role.INPUT),
        Processor("versions", EPOCH, batch(), Role.INPUT),
        Processor("join", EPOCH, random.choice((lazy(1), lazy(2), eager()))),
        Processor("answers", EPOCH, random.choice((lazy(1), eager())), Role.OUTPUT),
    ]
    pairs = (
        ("slow", "total"),
        ("total", "published"),
        ("fast", "join"),
        ("versions", "join"),
        ("join", "answers"),
    )
    edges = [Edge(f"{a}>{b}", a, b, Identity(EPOCH, EPOCH)) for a, b in pairs]
    flow = Flow(processors, edges, [Latest("published", "versions", "fast")])
    logics = {
        "total": Total(),
        "published": Stage(),
        "join": Join("versions>join"),
        "answers": Stage(),
    }
    fast = [
        [((f"f{epoch}.{k}", 0, 0),) for k in range(random.randint(0, 2))]
        for epoch in range(random.randint(2, 8))
    ]
    slow = [[((f"s{epoch}", 1, 0),)] for epoch in range(SLOW_EPOCHS)]
    return Scenario(flow, logics, {"slow": slow, "fast": fast})


class LatestSimulation(Simulation):
    """A run whose answers may differ from another's in the versions that they used."""

    def check(self) -> None:
        """Each item once, with a version of the slow side; both inputs acknowledged."""
        shown, inputs = self.world.outputs.get("answers", {}), self.scenario.inputs
        answered = {
            t: sorted(label for label, _, _ in items) for t, items in shown.items() if items
        }
        asked = {
            (epoch,): sorted(label for batch_ in batches for label, _, _ in batch_)
            for epoch, batches in enumerate(inputs["fast"])
            if batches
        }
        assert answered == asked
        assert self.versions() <= {-1, *range(1, SLOW_EPOCHS + 1)}
        for p, epochs in inputs.items():
            assert self.world.acknowledged.get(p, -1) >= len(epochs) - 1, f"{p} waits"

    def versions(self) -> set[int]:
        """The versions that were used in answers."""
        shown = self.world.outputs.get("answers", {})
        return {value for items in shown.values() for _, value, _ in items}


@pytest.mark.parametrize("block", range(4))
def test_every_item_is_answered_once_with_a_version_that_existed(block: int) -> None:
    used: set[int] = set()
    for seed in range(block, scaled(600), 4):
        run = LatestSimulation(scenario(seed), seed, Faults())
        try:
            run.run()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error
        used |= run.versions()
    assert len(used) > 1, "old and new versions are used"


def test_the_fast_side_keeps_everything_when_the_slow_side_fails() -> None:
    """Neither side rolls back because of the other."""
    run = LatestSimulation(scenario(5), 5, Faults(0, 0, 0, 0, 0))
    for _ in range(60):
        run.advance()
    state = run.machine.state
    failed = frozenset({"slow", "total"})
    live = {p: live_metadata(state, p) for p in state.flow.processors if p not in failed}
    frontiers = state.monitor.rollback_plan(failed, live).frontiers
    assert all(frontiers[p].is_top for p in ("fast", "versions", "join", "answers"))
