"""Small flows, exhaustively: every interleaving, with a fault at every point."""

import pytest
from tests.scale import LONG, QUICK, scaled

from falkirk.core.machine.rules import Rules
from falkirk.core.policy import Policy, batch, eager, ephemeral, history, lazy
from falkirk.testing.decisions import Scripted
from falkirk.testing.explore import CRASH, Explorer, Found
from falkirk.testing.faults import Fault
from falkirk.testing.simulator import Simulation
from falkirk.testing.small import chain, diamond

pytestmark = [pytest.mark.simulation, pytest.mark.slow]

SOURCES = (ephemeral(), batch())
INNER = (ephemeral(), batch(), lazy(), eager(), history())
OUTPUTS = (lazy(), eager())


def name(policy: object) -> str:
    return policy.regime.value if isinstance(policy, Policy) else str(policy)


@pytest.mark.parametrize("output", OUTPUTS, ids=name)
@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_two_processors_with_a_crash_at_every_point(source: Policy, output: Policy) -> None:
    explored = Explorer(chain(source, [], output), states_max=250 if QUICK else 10_000).explore()
    assert explored.complete or QUICK
    assert explored.runs > 1_000


@pytest.mark.parametrize("failing", ["in0,out0"] if QUICK else ["in0", "out0", "in0,out0"])
@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_two_processors_with_a_failure_at_every_point(source: Policy, failing: str) -> None:
    faults = [Fault.parse(f"fail:{failing}")]
    explored = Explorer(chain(source, [], lazy()), faults, states_max=300 if QUICK else 10_000)
    assert explored.explore().complete or QUICK


def test_two_processors_that_are_pinned_and_taken_back_at_every_point() -> None:
    faults = [Fault.parse("pin"), Fault.parse("return")]
    scenario, most = chain(ephemeral(), [], lazy()), 250 if QUICK else 10_000
    assert Explorer(scenario, faults, 2, states_max=most).explore().complete or QUICK
    with pytest.raises(Found, match="cannot go back"):
        Explorer(scenario, faults, 2, rules=Rules(keep_pinned=False)).explore()


def test_two_processors_where_everything_is_delayed() -> None:
    explored = Explorer(
        chain(batch(), [], lazy()), coarse=False, states_max=200 + scaled(2_000)
    ).explore()
    assert explored.runs


@pytest.mark.parametrize("output", OUTPUTS if LONG else OUTPUTS[:1], ids=name)
@pytest.mark.parametrize("inner", INNER, ids=name)
@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_three_processors_with_a_crash_at_every_point(
    source: Policy, inner: Policy, output: Policy
) -> None:
    scenario = chain(source, [inner], output)
    explored = Explorer(scenario, states_max=60 if QUICK else 10_000).explore()
    assert explored.complete or QUICK


@pytest.mark.parametrize("inner", [ephemeral(), lazy()], ids=name)
def test_three_processors_and_two_epochs_with_a_crash_at_every_point(inner: Policy) -> None:
    scenario = chain(ephemeral(), [inner], lazy(), batches=(1, 1))
    explored = Explorer(scenario, states_max=60 if QUICK else 10_000).explore()
    assert explored.complete or QUICK


def test_four_processors_with_a_crash_at_every_point() -> None:
    scenario = chain(ephemeral(), [lazy(), eager()], lazy())
    explored = Explorer(scenario, states_max=60 if QUICK else 10_000).explore()
    assert explored.complete or QUICK


@pytest.mark.parametrize(
    ("left", "right"),
    [(ephemeral(), lazy()), (batch(), lazy()), (eager(), history())],
    ids=name,
)
def test_a_diamond_with_a_crash_at_every_point(left: Policy, right: Policy) -> None:
    scenario = diamond(ephemeral(), left, right, lazy())
    explored = Explorer(scenario, states_max=60 if QUICK else 10_000).explore()
    assert explored.complete or QUICK


@pytest.mark.parametrize("failing", ["p0", "p1", "p0,p1"] if LONG else ["p0,p1"])
def test_a_diamond_with_a_failure_at_every_point(failing: str) -> None:
    scenario = diamond(ephemeral(), ephemeral(), lazy(), lazy())
    faults = [Fault.parse(f"fail:{failing}")]
    explored = Explorer(scenario, faults, states_max=60 if QUICK else 10_000).explore()
    assert explored.complete or QUICK


@pytest.mark.parametrize("inner", INNER, ids=name)
def test_three_processors_with_two_kinds_of_faults(inner: Policy) -> None:
    scenario = chain(ephemeral(), [inner], lazy(), batches=(1, 1))
    faults = [CRASH, Fault.parse("fail:p0")]
    assert Explorer(scenario, faults, states_max=100 + scaled(350)).explore().runs


def test_a_diamond_is_too_much_for_a_system_without_a_rule() -> None:
    rules = Rules(discarded_constraint=False)
    with pytest.raises(Found):
        Explorer(diamond(ephemeral(), lazy(), lazy(), lazy()), rules=rules).explore()


def test_an_exploration_finds_what_is_wrong_and_says_how_to_replay_it() -> None:
    rules, scenario = Rules(record_input_epochs=False), chain(batch(), [], lazy())
    with pytest.raises(Found) as caught:
        Explorer(scenario, rules=rules).explore()
    again = Simulation(scenario, 0, rules=rules, decisions=Scripted(caught.value.schedule))
    with pytest.raises(type(caught.value.error)):
        again.run()
