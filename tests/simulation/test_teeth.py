"""Each rule that makes recovery correct, switched off, is noticed within a bounded number of seeds.

The seeds at which the search starts are a little before those that were the first to notice when
this was written. They save time and mean nothing else: the search goes on for ``WITHIN`` seeds.
"""

from dataclasses import fields

import pytest

from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.testing.teeth import TEETH, bite

pytestmark = pytest.mark.simulation

WITHIN = 300
START = {"count_future_sends": 190, "one_content": 55, "retract_before_more": 55}


def test_every_rule_has_a_tooth_and_is_on() -> None:
    rules = [each.name for each in fields(Rules)]
    assert sorted(tooth.rule for tooth in TEETH) == sorted(rules)
    assert all(getattr(ALL_RULES, rule) for rule in rules)


def test_every_trap_has_a_tooth() -> None:
    origins = {part.strip() for tooth in TEETH for part in tooth.origin.split(";")}
    assert {f"trap {number}" for number in range(1, 12)} <= origins


@pytest.mark.parametrize("rule", [tooth.rule for tooth in TEETH])
def test_a_rule_that_is_off_is_noticed(rule: str) -> None:
    start = START.get(rule, 0)
    for seed in range(start, start + WITHIN):
        verdict = bite(rule, seed)
        if verdict.outside or verdict.inside:
            return
    pytest.fail(f"nobody noticed in {WITHIN} seeds from {start} on that {rule} was off")
