"""``falkirk what-if``: its answer is what the machine does when it really happens."""

import json

import pytest
from tests.contracts.store.places import Durable
from tests.unit.cli.stories import Make, falkirk, shop

import falkirk as fk
from falkirk.core.errors import ConfigurationError
from falkirk.core.machine.events import Fail, RolledBack
from falkirk.core.problem import notation
from falkirk.core.times import ProcessorId


def supposed(*arguments: str) -> dict:
    return json.loads(falkirk("what-if", *arguments, "--store", "state", "--json").output)


POLICIES = {
    "nothing logged": shop,
    "a log before": lambda: shop(orders=fk.batch()),
    "eager totals": lambda: shop(fk.eager()),
    "all by epochs": lambda: shop(fk.lazy()),
    "history": lambda: shop(fk.history()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["orders", "sold", "totals", "written"])
@pytest.mark.parametrize("flow", POLICIES)
def test_the_machine_does_what_was_said(story: Make, flow: str, name: str) -> None:
    """At a moment when everything that was done is durable, so that both know the same."""
    begun = story(POLICIES[flow]()).epochs(8).flush()
    found = supposed("--fail", name)
    p = ProcessorId(name)
    stored = begun.store.load(begun.flow, Durable, [p])
    effects = begun.machine.step(Fail(frozenset([p]), stored))
    (rolled,) = [effect for effect in effects if isinstance(effect, RolledBack)]
    graph = begun.flow.graph
    assert {each["processor"]: each["goes_to"]["frontier"] for each in found["fates"]} == {
        q: notation(graph, q, frontier) for q, frontier in rolled.frontiers.items()
    }


def test_if_everything_fails_it_is_what_a_restart_does(story: Make) -> None:
    story().epochs(8).stop()
    found = supposed("--fail-all")
    assert {each["goes_to"]["words"] for each in found["fates"]} == {"epoch 4"}
    begun = story()
    assert {p: repr(s.completed) for p, s in begun.machine.state.standing.items()} == {
        each["processor"]: "↓(4)" for each in found["fates"]
    }


def test_inputs_are_read_again_by_position(story: Make) -> None:
    story().epochs(8).stop()
    (again,) = supposed("--fail", "totals")["reread"]
    assert again == {
        "input": "orders",
        "epochs": ["epoch 5", "epoch 6", "epoch 7"],
        "after": 5,
        "up_to": 8,
    }


def test_logs_are_sent_again_instead(story: Make) -> None:
    story(shop(orders=fk.batch())).epochs(8).stop()
    found = supposed("--fail", "totals")
    assert found["reread"] == []
    (resent,) = found["resent"]
    assert (resent["edge"], resent["messages"]) == ("orders>sold", 3)
    assert resent["bytes"] > 0
    keeps = {each["processor"]: each["keeps_all"] for each in found["fates"]}
    assert keeps == {"orders": True, "sold": False, "totals": False, "written": False}


def test_nothing_is_changed(story: Make) -> None:
    story().epochs(8).stop()
    before = falkirk("status", "--store", "state", "--json").output
    falkirk("what-if", "--fail", "totals", "--store", "state")
    assert falkirk("status", "--store", "state", "--json").output == before


@pytest.mark.parametrize("arguments", [(), ("--fail", "totals", "--fail-all")])
def test_it_must_be_said_who_fails(story: Make, arguments: tuple[str, ...]) -> None:
    story().epochs(1).stop()
    assert falkirk("what-if", *arguments, "--store", "state").exit_code == 2


def test_nobody_of_that_name(story: Make) -> None:
    story().epochs(1).stop()
    result = falkirk("what-if", "--fail", "orders,nobody", "--store", "state")
    assert isinstance(result.exception, ConfigurationError)
    assert "'nobody'" in str(result.exception)
