"""Downstream of an at-least-once processor nothing is lost, and repeats are allowed (§2.1)."""

import pytest
from tests.scale import scaled

from falkirk.core.policy import at_least_once, batch, ephemeral, lazy
from falkirk.testing.outside import check_at_least_once
from falkirk.testing.simulator import Simulation, Violation
from falkirk.testing.small import chain
from falkirk.testing.world import tainted

pytestmark = pytest.mark.simulation


def test_taint_follows_the_graph() -> None:
    flow = chain(ephemeral(), [lazy(), at_least_once(), batch()], lazy()).flow
    assert tainted(flow) == {"p1", "p2", "out0"}


@pytest.mark.parametrize("seed", range(scaled(100)))
def test_nothing_is_lost(seed: int) -> None:
    inner = [lazy(), at_least_once()] if seed % 2 else [batch(), at_least_once(), lazy()]
    Simulation(chain(ephemeral(), inner, lazy(), batches=(1, 2, 1)), seed).run()


def test_what_is_lost_is_noticed() -> None:
    one, two = (("a", 1),), (("a", 1), ("a", 1))
    check_at_least_once("out0", {(0,): two}, {(0,): one})
    for shown in ({}, {(0,): ()}, {(1,): one}):
        with pytest.raises(Violation, match="lost"):
            check_at_least_once("out0", shown, {(0,): one})
    with pytest.raises(Violation, match="lost"):
        check_at_least_once("out0", {(0,): one}, {(0,): two})


def test_what_nobody_should_see_is_noticed() -> None:
    with pytest.raises(Violation, match="nobody"):
        check_at_least_once("out0", {(0,): (("a", 1), ("a", 2))}, {(0,): (("a", 1),)})
    with pytest.raises(Violation, match="nobody"):
        check_at_least_once("out0", {(0,): (("a", 1),)}, {})
