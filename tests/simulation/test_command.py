"""``python -m falkirk.testing.simulate``, as a person uses it."""

import pytest
from click.testing import CliRunner

from falkirk.testing.simulate import simulate

pytestmark = pytest.mark.simulation


def test_one_seed_in_words() -> None:
    result = CliRunner().invoke(simulate, ["--seed", "3", "--transcript"])
    assert result.exit_code == 0
    assert "in0 ends" in result.output
    assert "is durable" in result.output
    assert "Persist(" not in result.output


def test_many_seeds() -> None:
    result = CliRunner().invoke(simulate, ["--seeds", "20", "--jobs", "1", "--teeth", "0"])
    assert result.exit_code == 0
    assert "20 runs" in result.output


def test_a_failure_is_shrunk_and_can_be_replayed() -> None:
    words = ["--seeds", "10", "--jobs", "1", "--rules-off", "only_completed"]
    result = CliRunner().invoke(simulate, words)
    assert result.exit_code == 1
    assert "python -m falkirk.testing.simulate --seed" in result.output


def test_an_unknown_rule_is_refused() -> None:
    result = CliRunner().invoke(simulate, ["--rules-off", "gravity"])
    assert result.exit_code == 2
    assert "discarded_constraint" in result.output
