"""The controller of admission, on a plant that is simulated: it holds a latency, and keeps calm."""

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest

from falkirk.core.errors import DefinitionError
from falkirk.dataflow.admission import Adaptive, adaptive
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.admission import STEP_MAX, Admission, Controller

Plant = Callable[[int], float]


def sizes(plant: Plant, goal: Adaptive, epochs: int, ahead: int = 1, start: int = 0) -> list[int]:
    """What is admitted, epoch by epoch, with ``ahead`` epochs under way at once."""
    controller = Controller(goal)
    controller.size = start or controller.size
    under_way: list[int] = []
    found = []
    for _ in range(epochs):
        under_way.append(controller.size)
        found.append(controller.size)
        if len(under_way) == ahead:
            size = under_way.pop(0)
            controller.measured(size, plant(size), full=True)
    return found


@pytest.mark.parametrize("ahead", [1, 4])
@pytest.mark.parametrize("start", [1, 100, 900_000])
@pytest.mark.parametrize(("fixed", "each"), [(0.0, 0.001), (0.1, 0.0001), (0.3, 0.00001)])
def test_it_comes_to_the_target_from_its_side_and_stays(
    fixed: float, each: float, start: int, ahead: int
) -> None:
    goal = adaptive(0.5)
    exact = (0.5 - fixed) / each

    def plant(size: int) -> float:
        return fixed + each * size

    found = sizes(plant, goal, 400, ahead, start)
    assert abs(plant(found[-1]) - 0.5) <= 0.1 * 0.5 + each
    assert len(set(found[-20:])) == 1, "it still moves"
    if start < exact:
        assert found == sorted(found)
        assert max(found) <= exact + 1
    else:
        assert found == sorted(found, reverse=True)
    assert all(new <= STEP_MAX * old + 1 for old, new in pairwise(found))
    assert all(new >= old / STEP_MAX - 1 for old, new in pairwise(found))


def test_it_follows_a_plant_that_becomes_slower_and_faster() -> None:
    controller = Controller(adaptive(0.5))
    for each in (0.001, 0.01, 0.0001):
        for _ in range(60):
            controller.measured(controller.size, each * controller.size, full=True)
        assert abs(each * controller.size - 0.5) <= 0.06


def test_noise_and_single_pauses_do_not_drive_it_away() -> None:
    random, controller = Random(7), Controller(adaptive(0.5))
    for epoch in range(300):
        noise = random.uniform(0.8, 1.2) * (20 if epoch % 50 == 49 else 1)
        controller.measured(controller.size, 0.001 * controller.size * noise, full=True)
        if epoch > 60 and 10 < epoch % 50 < 49:
            assert 300 <= controller.size <= 700


def test_an_epoch_that_took_all_there_was_does_not_ask_for_more() -> None:
    controller = Controller(adaptive(0.5, least=10))
    controller.measured(10, 0.01, full=False)
    assert controller.size == 10
    controller.measured(10, 0.01, full=True)
    assert controller.size == 20


def test_what_was_read_under_another_limit_says_nothing() -> None:
    controller = Controller(adaptive(0.5, least=10))
    controller.measured(10, 0.01, full=True)
    for _ in range(3):
        controller.measured(10, 0.01, full=True)
    assert controller.size == 20


def test_it_keeps_to_its_bounds() -> None:
    goal = adaptive(0.5, least=10, most=50)
    assert sizes(lambda size: 0.01, goal, 20)[-1] == 50
    assert sizes(lambda size: 9.0, goal, 20, start=50)[-1] == 10


@pytest.mark.parametrize("unit", ["rows", "files", "bytes"])
def test_it_counts_what_it_is_told_to(unit: str) -> None:
    assert Controller(adaptive(least=7, unit=unit)).limit == Limit(**{unit: 7})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"target_seconds": 0}, "cannot be held"),
        ({"least": 0}, "at least 1"),
        ({"least": 9, "most": 8}, "nothing to choose"),
        ({"unit": "seconds"}, "cannot be counted"),
    ],
)
def test_what_cannot_be_held_is_refused(given: dict[str, object], problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        adaptive(**given)  # type: ignore[arg-type]


def test_an_epoch_counts_when_it_is_complete_and_it_is_known_whether_there_was_more() -> None:
    admission = Admission.of(adaptive(1.0, least=10))
    admission.taken(0, began=5.0, size=admission.size)
    admission.look(lambda: -1, now=5.1)
    admission.look(lambda: 0, now=5.5)
    assert admission.limit == Limit(rows=10)
    admission.polled(True)
    assert admission.limit == Limit(rows=20)
    assert not admission.measured


def test_a_fixed_limit_measures_nothing() -> None:
    admission = Admission.of(Limit(rows=3))
    admission.taken(0, began=0.0, size=admission.size)
    assert (admission.limit, admission.measured) == (Limit(rows=3), {})
