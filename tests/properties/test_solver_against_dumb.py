"""The solver equals the dumb one on thousands of random problems, and every constraint matters."""

import json

import pytest
from tests.properties.dumb import Dumb
from tests.properties.problems import random_problem
from tests.scale import scaled

from falkirk.core.problem import read_problem, write_solution
from falkirk.core.rollback import solve

SEEDS, BLOCKS = scaled(5_000), 20
CONSTRAINTS = ("undelivered", "discarded", "delivered", "within", "notified", "projection")


def answers(problem: dict) -> tuple[dict, dict]:
    """The solver's f and f_n in the exchange notation."""
    answer = write_solution(solve(*read_problem(json.dumps(problem))))
    return answer["frontiers"], answer["notification_frontiers"]


def agree(problem: dict, without: str = "") -> bool:
    """Whether both solvers find the same frontiers."""
    dumb = Dumb(problem, without)
    return all(
        dumb.real(p, dumb.parse(p, mine[p])) == dumb.real(p, theirs[p])
        for mine, theirs in zip(answers(problem), dumb.largest(), strict=True)
        for p in theirs
    )


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_solver_equals_the_dumb_one(block: int) -> None:
    for seed in range(block, SEEDS, BLOCKS):
        problem = random_problem(seed)
        assert agree(problem), f"seed {seed}: {json.dumps(problem)}"


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_without_any_one_constraint_the_answers_differ(constraint: str) -> None:
    def differ(seed: int) -> bool:
        try:
            return not agree(random_problem(seed), without=constraint)
        except AssertionError:
            return True  # without the constraint there is not even a largest answer

    assert any(differ(seed) for seed in range(100))


@pytest.mark.parametrize("block", range(4))
def test_every_lowered_processor_has_a_reason_and_no_other(block: int) -> None:
    for seed in range(block, SEEDS // 5, 4):
        solution = solve(*read_problem(json.dumps(random_problem(seed))))
        assert all(solution.reasons.values()), f"seed {seed}: a processor is lowered for no reason"


def test_adding_a_checkpoint_never_lowers_anyone() -> None:
    """§3.6: "a valid set of frontiers remains valid as more checkpoints are saved"."""
    compared = 0
    for seed in range(SEEDS // 6):
        problem = random_problem(seed)
        after = Dumb(problem)
        larger, _ = answers(problem)
        for p, body in problem["processors"].items():
            if body.get("checkpoints"):
                fewer = {**body, "checkpoints": body["checkpoints"][:-1]}
                processors = {**problem["processors"], p: fewer}
                smaller, _ = answers({**problem, "processors": processors})
                for q, before in smaller.items():
                    assert after.parse(q, before) <= after.parse(q, larger[q]), f"seed {seed}"
                compared += 1
    assert compared > SEEDS // 10
