"""Policies: what each of them logs, holds, replays, and refuses."""

import pytest

from falkirk.core.errors import DefinitionError
from falkirk.core.policy import (
    Policy,
    at_least_once,
    batch,
    eager,
    ephemeral,
    history,
    lazy,
    snapshot,
)

ALL = {
    "ephemeral": ephemeral(),
    "batch": batch(),
    "lazy": lazy(),
    "eager": eager(),
    "history": history(),
    "snapshot": snapshot(),
    "at-least-once": at_least_once(),
}


def those(question: str) -> set[str]:
    return {name for name, policy in ALL.items() if getattr(policy, question)}


def test_which_policies_do_what() -> None:
    assert those("stateless") == {"ephemeral", "batch"}
    assert those("holds") == {"eager"}
    assert those("replays") == {"history"}
    assert those("tainted") == {"at-least-once"}
    assert {name for name, policy in ALL.items() if policy.logs("e")} == {
        "batch",
        "eager",
        "history",
    }


def test_the_name_of_a_regime_is_that_of_its_policy() -> None:
    assert {name: policy.regime.value for name, policy in ALL.items()} == {n: n for n in ALL}


@pytest.mark.parametrize("policy", ALL.values(), ids=ALL)
def test_any_policy_can_log_an_edge_in_addition(policy: Policy) -> None:
    more = policy.logging("e").logging("f", "g")
    assert all(more.logs(edge) for edge in "efg")
    assert more.regime is policy.regime
    assert policy.log == frozenset(), "a policy is a value"


def test_an_interval_of_nothing_is_refused() -> None:
    assert lazy(5).every == 5
    with pytest.raises(DefinitionError, match="at least 1"):
        lazy(0)


def test_when_a_checkpoint_is_due() -> None:
    assert [lazy(3).is_due(n, 0.0) for n in (2, 3)] == [False, True]
    assert [lazy(seconds=5).is_due(1, s) for s in (4.0, 5.0)] == [False, True]
    assert not lazy(seconds=5).is_due(99, 4.0), "the clock decides alone"
    assert lazy(when=lambda n, s: n + s > 6).is_due(3, 4.0)
