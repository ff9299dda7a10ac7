"""A run that fails is made small, and says how to replay it."""

import shlex

import pytest
from click.testing import CliRunner

from falkirk.testing.case import Case
from falkirk.testing.shrink import attempt, shrink
from falkirk.testing.simulate import simulate

pytestmark = pytest.mark.simulation


def first_failure(rule: str) -> Case:
    for seed in range(100):
        case = Case(seed, rules_off=(rule,))
        if attempt(case)[0] is not None:
            return case
    pytest.fail(f"no seed notices that {rule} is off")


def test_a_shrunk_run_is_smaller_and_still_fails() -> None:
    case = first_failure("resend_logged")
    before, decisions = attempt(case)
    after = shrink(case, runs_max=300)
    assert before is not None
    assert after is not None
    assert type(after.error) is type(before.error)
    assert after.case.script is not None
    assert len(after.case.script) < len(decisions) / 2


def test_the_command_replays_the_run() -> None:
    shrunk = shrink(first_failure("discarded_constraint"), runs_max=300)
    assert shrunk is not None
    program, words = shlex.split(shrunk.case.command())[:3], shlex.split(shrunk.case.command())[3:]
    assert program == ["python", "-m", "falkirk.testing.simulate"]
    result = CliRunner().invoke(simulate, words)
    assert result.exit_code == 1
    assert str(shrunk.error) in result.output


def test_a_run_that_does_not_fail_cannot_be_shrunk() -> None:
    assert shrink(Case(0)) is None
