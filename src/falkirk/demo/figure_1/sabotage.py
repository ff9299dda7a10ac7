"""Switching a rule of recovery off, to see that the demonstration would notice.

All rules have tests of their own, on the simulator. Here are those whose absence was seen in the
answers of this application after its three failures.
"""

from falkirk.core.errors import ConfigurationError
from falkirk.core.machine.rules import ALL_RULES, Rules

RULES = {
    "discarded_constraint": "who sent what is gone does not go back with those who lost it",
    "resend_logged": "what was logged is not sent again to those who went back behind it",
}
"""The rules that can be switched off, and what is wrong then."""


def rules_without(rule: str) -> Rules:
    """All rules but ``rule``; all of them if that is empty.

    >>> rules_without("resend_logged").resend_logged, rules_without("").resend_logged
    (False, True)
    """
    if not rule:
        return ALL_RULES
    if rule not in RULES:
        raise ConfigurationError(
            f"the demonstration cannot do without the rule {rule!r}: it can without"
            f" {', '.join(RULES)}"
        )
    return Rules(**{rule: False})
