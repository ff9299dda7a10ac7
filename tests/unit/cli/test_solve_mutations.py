"""`falkirk solve`: problems that were changed at random are answered or refused, never a crash."""

import json
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.problems import random_problem
from tests.unit.cli.documents import EXAMPLE, RICH, paths, refusal

JUNK = (None, True, False, -1, 0, 1, 2, 3, 2.5, "", "top", "empty", "inf", "epoch", "feedback")
MORE = ("recorded", "p0", "e0", [], {}, [[0]], [[0, "inf"]], [[1, 1], [2, 0]], {"e0": 1})


def mutated(problem: dict, rng: Random) -> dict:
    """``problem`` with some values replaced, removed, copied or renamed."""
    copy = json.loads(json.dumps(problem))
    for _ in range(rng.randint(1, 3)):
        *way, key = rng.choice(list(paths(copy)))
        place: Any = copy
        for step in way:
            place = place[step]
        change: Callable[[], Any] = rng.choice(
            [
                lambda place=place, key=key: place.__setitem__(
                    key, deepcopy(rng.choice(JUNK + MORE))
                ),
                lambda place=place, key=key: place.__delitem__(key),
                lambda place=place, key=key: place.__setitem__(key, elsewhere(copy, rng)),
                lambda place=place, key=key: rename(place, key, rng),
            ]
        )
        change()
        if not copy:
            break
    return copy


def elsewhere(problem: dict, rng: Random) -> Any:
    """A copy of a value from another place."""
    found: Any = problem
    for step in rng.choice(list(paths(problem))):
        found = found[step]
    return deepcopy(found)


def rename(place: Any, key: Any, rng: Random) -> None:
    value = place.pop(key)
    if isinstance(place, dict):
        place[rng.choice(["p0", "p1", "e0", "e1", "frontier", "src", "dst", "unheard of"])] = value
    else:
        place.insert(rng.randint(0, len(place)), value)


@given(seed=st.integers(0, 10**6), which=st.integers(0, 10**6))
def test_mutations_are_answered_or_refused(seed: int, which: int) -> None:
    problem = [EXAMPLE, RICH, random_problem(which)][which % 3]
    said = refusal(json.dumps(mutated(problem, Random(seed))))
    assert said is None or len(said.splitlines()) == 1


def test_many_mutations_are_answered_or_refused() -> None:
    outcomes = {"answered": 0, "refused": 0}
    for seed in range(900):
        problem = [EXAMPLE, RICH, random_problem(seed)][seed % 3]
        text = json.dumps(mutated(problem, Random(seed)))
        try:
            outcomes["answered" if refusal(text) is None else "refused"] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {text}") from error
    assert min(outcomes.values()) > 50, "both happen"
