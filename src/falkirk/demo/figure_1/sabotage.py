"""Switching a rule of recovery off, to see that the demonstration would notice."""

from dataclasses import fields

from falkirk.core.errors import ConfigurationError
from falkirk.core.machine.rules import ALL_RULES, Rules

RULES = tuple(rule.name for rule in fields(Rules))


def rules_without(rule: str) -> Rules:
    """All rules but ``rule``; all of them if that is empty.

    >>> rules_without("resend_logged").resend_logged, rules_without("").resend_logged
    (False, True)
    """
    if not rule:
        return ALL_RULES
    if rule not in RULES:
        raise ConfigurationError(f"there is no rule {rule!r}: there are {', '.join(RULES)}")
    return Rules(**{rule: False})
