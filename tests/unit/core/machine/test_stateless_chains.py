"""What stateless processors complete is looked at when somebody behind them has saved it."""

from itertools import pairwise

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core.policy import ephemeral, lazy
from falkirk.core.trail import Trail
from falkirk.testing.logic import Map, Stage

EPOCHS = 4


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The variables that the monitor lowers."""
    seen: list[int] = []
    note = Trail.note

    def spy(trail: Trail, variable: int, *about: object) -> None:
        seen.append(variable)
        note(trail, variable, *about)

    monkeypatch.setattr(Trail, "note", spy)
    return seen


def chain(length: int) -> Story:
    """in → m1 → … → out, with nothing saved in between."""
    names = ["in", *(f"m{number}" for number in range(length)), "out"]
    edges = {f"e{n}": f"{p} > {q}" for n, (p, q) in enumerate(pairwise(names))}
    policies = dict.fromkeys(names, ephemeral()) | {"out": lazy()}
    logics = {name: Map(1) for name in names[1:-1]} | {"out": Stage()}
    return Story(flow_of(policies, outputs=["out"], **edges), **logics)


@pytest.mark.parametrize("length", [10, 80])
def test_a_chain_of_them_costs_the_monitor_an_epoch_in_proportion(
    length: int, noted: list[int]
) -> None:
    story = chain(length)
    noted.clear()
    for epoch in range(EPOCHS):
        story.ingest("in", epoch)
        story.close("in")
        story.work()
        story.persist_all()
        assert story.watermark("m0") == story.acknowledged["in"] == upto(epoch)
    assert len(noted) <= 4 * EPOCHS * length
