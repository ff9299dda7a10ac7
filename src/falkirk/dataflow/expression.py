"""Reading the few SQL expressions that falkirk must understand itself: keys and aggregates."""

import re
from dataclasses import dataclass

from falkirk.dataflow.location import refusal

FUNCTIONS = ("sum", "count", "min", "max", "avg")
"""The aggregate functions whose results can be merged."""

_COLUMN = re.compile(r"\w+")
_NAMED = re.compile(r"(?P<expression>.+?)\s+AS\s+(?P<name>\w+)\s*", re.IGNORECASE | re.DOTALL)
_CALL = re.compile(r"\s*(?P<function>\w+)\s*\((?P<argument>.*)\)\s*", re.DOTALL)


def quoted(column: str) -> str:
    """The column as Spark's SQL reads it, whatever characters it has.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + column.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True)
class Key:
    """A column to group by: ``expression`` called ``name``."""

    name: str
    expression: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A column of results: ``function`` of ``argument``, called ``name``."""

    name: str
    function: str
    argument: str


def read_key(text: object) -> Key:
    """A column, or an expression with a name.

    >>> read_key("word")
    Key(name='word', expression='`word`')
    >>> read_key("date(at) AS day")
    Key(name='day', expression='date(at)')
    """
    if isinstance(text, str):
        if _COLUMN.fullmatch(text):
            return Key(text, quoted(text))
        if match := _NAMED.fullmatch(text):
            return Key(match["name"], match["expression"].strip())
    raise refusal(f"{text!r} is no key: a column, or an expression AS a name")


def read_aggregate(name: str, text: object) -> Aggregate:
    """One call of a function that can be merged.

    >>> read_aggregate("total", "sum(price * n)")
    Aggregate(name='total', function='sum', argument='price * n')
    >>> read_aggregate("n", "count(*)")
    Aggregate(name='n', function='count', argument='1')
    """
    match = _CALL.fullmatch(text) if isinstance(text, str) else None
    if match is None or not _balanced(match["argument"]):
        raise refusal(
            f"{name}={text!r} is no aggregate: one call of {', '.join(FUNCTIONS)},"
            " and arithmetic on results in a select after it"
        )
    function, argument = match["function"].lower(), match["argument"].strip()
    if function not in FUNCTIONS:
        raise refusal(
            f"{name}={text!r}: results of {function!r} cannot be merged over times;"
            f" {', '.join(FUNCTIONS)} can"
        )
    if re.match(r"distinct\b", argument, re.IGNORECASE):
        raise refusal(
            f"{name}={text!r}: distinct values cannot be merged over times; group by them first"
        )
    if argument == "*" and function == "count":
        argument = "1"
    if argument in ("", "*"):
        raise refusal(f"{name}={text!r} needs an expression to work on")
    return Aggregate(name, function, argument)


def _balanced(text: str) -> bool:
    """Whether every bracket in ``text`` is closed in it, outside of strings and quoted names."""
    depth, quote = 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0 and not quote
