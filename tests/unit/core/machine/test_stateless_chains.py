"""What stateless processors complete is looked at when somebody behind them has saved it."""

from itertools import pairwise

import pytest
from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core.domain import EPOCH, Structured
from falkirk.core.policy import ephemeral, lazy
from falkirk.core.times import EdgeId
from falkirk.core.trail import Trail
from falkirk.testing.crossing import Turn
from falkirk.testing.logic import Map, Stage

EPOCHS = 4
LOOP = Structured(2)


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


def branching(dead_end: dict[str, str]) -> Story:
    """in → out, and from in to a stateless ``end`` that leads to nobody who saves."""
    policies = {"in": lazy(), "end": ephemeral(), "out": lazy()}
    flow = flow_of(policies, outputs=["out"], domains={"end": LOOP}, b="in > out", **dead_end)
    return Story(flow, end=Turn(EdgeId("around")), out=Stage())


@pytest.mark.parametrize(
    "dead_end",
    [{"a": "in > end by enter"}, {"a": "in > end by enter", "around": "end > end by feedback"}],
    ids=["a leaf", "a loop without a way out"],
)
def test_what_leads_to_nobody_who_saves_is_not_waited_for_in_vain(dead_end: dict[str, str]) -> None:
    """It completes the epoch when all others have announced it, and nobody announces after that."""
    story = branching(dead_end)
    story.ingest("in", 3)
    story.close("in")
    story.persist_all()
    story.deliver("out", "b", (0,))
    story.persist_all()
    assert story.watermark("in") == EPOCH.empty
    story.work()
    story.persist_all()
    assert story.watermark("in") == story.watermark("out") == upto(0)
    assert story.acknowledged["in"] == upto(0)
