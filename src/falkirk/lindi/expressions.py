"""Column expressions as Spark's users know them: SQL text, Columns, functions that give Columns.

A Column of classic PySpark needs a session when it is made, and a flow is mostly written before
there is one. A function is called with the frame when the plan is built, so it always works.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from falkirk.dataflow.batch import Frame
from falkirk.dataflow.location import refusal

Expression = str | Callable[[Frame], Any] | Any
"""SQL text, a function from the frame to a Column, or a Column."""

ORDERING = re.compile(
    r"\s*(?P<expression>.+?)(?:\s+(?P<way>ASC|DESC))?(?:\s+NULLS\s+(?P<nulls>FIRST|LAST))?\s*",
    re.IGNORECASE | re.DOTALL,
)
UNORDERED = re.compile(r"\b(map|variant|calendarinterval|interval)\b")
"""Types that Spark cannot order by, or may not."""


def checked(given: Sequence[Any], method: str, least: int = 1) -> tuple[Expression, ...]:
    """The expressions, of which there are at ``least`` so many.

    >>> checked(["n + 1 AS n"], "select")
    ('n + 1 AS n',)
    """
    if len(given) < least:
        raise refusal(f"{method} needs at least {least} expression{'s' if least > 1 else ''}")
    for each in given:
        text = isinstance(each, str) and bool(each.strip())
        if not (text or is_column(each) or (callable(each) and not isinstance(each, type))):
            raise refusal(
                f"{method} takes SQL text, a Column, or a function from a frame to a Column;"
                f" not {each!r}"
            )
    return tuple(given)


def is_column(given: object) -> bool:
    """Whether something is a Column, of a classic session or of Spark Connect.

    Such a thing exists only where Spark was imported, so nobody has to import it here.
    """
    return any(
        kind.__name__ == "Column" and kind.__module__.startswith("pyspark.sql.")
        for kind in type(given).__mro__
    )


def is_text(given: tuple[Expression, ...]) -> TypeGuard[tuple[str, ...]]:
    """Whether all of the expressions are text."""
    return all(isinstance(each, str) for each in given)


def column(frame: Frame, expression: Expression) -> Any:
    """The Column that an expression stands for."""
    from pyspark.sql import functions as F

    if isinstance(expression, str):
        return F.expr(expression)
    return expression if is_column(expression) else expression(frame)


def columns(frame: Frame, expressions: Sequence[Expression]) -> list[Any]:
    """The Columns that expressions stand for."""
    return [column(frame, each) for each in expressions]


def ordering(frame: Frame, expression: Expression) -> Any:
    """The Column to order by: text may end in ASC or DESC and NULLS FIRST or LAST."""
    if not isinstance(expression, str):
        return column(frame, expression)
    text, way, nulls = read_ordering(expression)
    return getattr(column(frame, text), f"{way}_nulls_{nulls}")()


def read_ordering(text: str) -> tuple[str, str, str]:
    """The parts of an ordering; what is left out is as in Spark's SQL.

    >>> read_ordering("price DESC"), read_ordering("a + b nulls last")
    (('price', 'desc', 'last'), ('a + b', 'asc', 'last'))
    """
    found = ORDERING.fullmatch(text)
    assert found is not None, "any text that is not blank has this form"
    way = (found["way"] or "asc").lower()
    nulls = (found["nulls"] or ("first" if way == "asc" else "last")).lower()
    return found["expression"], way, nulls


def total_ordering(frame: Frame, by: Sequence[Expression]) -> list[Any]:
    """Orders by ``by``; rows that are equal by those are told apart by all their columns."""
    from falkirk.dataflow.expression import quoted

    rest = [name for name, kind in frame.dtypes if not UNORDERED.search(kind)]
    return [*(ordering(frame, each) for each in by), *(frame[quoted(name)] for name in rest)]
