"""``falkirk demo`` says what is missing before it starts anything."""

import pytest
from click.testing import CliRunner

from falkirk.cli.main import cli
from falkirk.core.errors import FalkirkError
from falkirk.demo.figure_1.sabotage import RULES, rules_without
from falkirk.demo.figure_1.topic import Produced


def test_kafka_without_an_address_says_what_is_needed() -> None:
    found = CliRunner().invoke(cli, ["demo", "--kafka"])
    assert found.exit_code == 2
    assert "HOST:PORT" in found.output


def test_a_broker_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("falkirk.demo.figure_1.topic.ANSWER_SECONDS", 0.2)
    with pytest.raises(FalkirkError, match=r"127\.0\.0\.1:9.*start a broker there"):
        Produced("127.0.0.1:9", 10, 1.0)


def test_only_rules_that_are_noticed_can_be_left_out() -> None:
    found = CliRunner().invoke(cli, ["demo", "--sabotage", "announce_in_order"])
    assert found.exit_code == 2
    assert all(rule in found.output for rule in RULES)
    assert not rules_without("discarded_constraint").discarded_constraint
