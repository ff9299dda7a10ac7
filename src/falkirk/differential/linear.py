"""Operators that keep nothing: what they make of a change does not depend on what was before.

They extend plans, as all stateless operators do. Where a batch rests on the driver and no more is
asked than columns, whole numbers and signs, that is done there, so that the rounds of a loop need
no job for it; the rows are those that Spark would give.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from falkirk.core.errors import ExecutionError
from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.operators.plan import Transform
from falkirk.dataflow.processor import Processor
from falkirk.differential.weights import WEIGHT, WHOLE, negated, negated_frame, quoted

SIMPLE = re.compile(
    r"\s*(?:`?(?P<column>[a-z_]\w*)`?(?:\s*\+\s*(?P<plus>\d{1,9}))?|(?P<number>\d{1,9}))"
    r"(?:\s+AS\s+`?(?P<name>[a-z_]\w*)`?)?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Simple:
    """A column, perhaps with a whole number added to it, or a whole number alone."""

    name: str
    column: str | None = None
    plus: int = 0

    def of(self, table: pa.Table) -> pa.ChunkedArray | None:
        """Its values, or None if only Spark knows what is meant."""
        if self.column is None:
            return pa.repeat(pa.scalar(self.plus, pa.int32()), table.num_rows)
        if self.column not in table.schema.names:
            return None
        values = table[self.column]
        if not self.plus:
            return values
        if values.type not in (pa.int32(), pa.int64()):
            return None
        return pc.add_checked(values, pa.scalar(self.plus, values.type))


def read_simple(expression: str) -> Simple | None:
    """The expression, if it is one that needs no Spark.

    >>> read_simple("dst AS node"), read_simple("hops + 1 AS hops")
    (Simple(name='node', column='dst', plus=0), Simple(name='hops', column='hops', plus=1))
    >>> read_simple("upper(word) AS word"), read_simple("null AS nothing"), read_simple("7")
    (None, None, None)
    """
    found = SIMPLE.fullmatch(expression)
    if found is None:
        return None
    column, plus, number, name = found["column"], found["plus"], found["number"], found["name"]
    if column is not None and column.lower() in ("null", "true", "false", "current_date"):
        return None
    if column is None or plus:
        return Simple(name, column, int(plus or number)) if name else None
    return Simple(name or column, column)


class Pick(Transform):
    """Simple expressions of each row."""

    def __init__(self, expressions: Sequence[str], simple: Sequence[Simple]) -> None:
        """The ``expressions`` are what ``simple`` says."""
        self.simple = [*simple, Simple(WEIGHT, WEIGHT)]
        chosen = [*expressions, WEIGHT]
        super().__init__(lambda frame: frame.selectExpr(*chosen))

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Evaluates them at once, or extends the plan."""
        if batch.small:
            table = batch.arrow()
            values = [each.of(table) for each in self.simple]
            if not any(each is None for each in values):
                names = [each.name for each in self.simple]
                ctx.send(ctx.batch(pa.table(values, names=names)))
                return
        super().on_message(ctx, port, time, batch)


class Rename(Transform):
    """The weight under a name of the user's."""

    def __init__(self, name: str) -> None:
        """``name`` is what the weight is called from here on."""
        self.name = name
        super().__init__(lambda frame: frame.withColumnRenamed(WEIGHT, name))

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Renames it at once, or extends the plan."""
        if batch.small:
            table = batch.arrow()
            names = [self.name if name == WEIGHT else name for name in table.schema.names]
            ctx.send(ctx.batch(table.rename_columns(names)))
        else:
            super().on_message(ctx, port, time, batch)


class Negate(Transform):
    """What came is gone, and the other way round."""

    def __init__(self) -> None:
        """Nothing to choose."""
        super().__init__(negated_frame)

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Turns the signs at once, or extends the plan."""
        if batch.small:
            ctx.send(ctx.batch(negated(batch.arrow())))
        else:
            super().on_message(ctx, port, time, batch)


def mapping(expressions: Sequence[str]) -> Processor:
    """The operator for SQL expressions.

    >>> type(mapping(["a AS b", "c"])).__name__, type(mapping(["a || c AS b"])).__name__
    ('Pick', 'Transform')
    """
    simple = [read_simple(expression) for expression in expressions]
    if all(simple):
        return Pick(expressions, [each for each in simple if each is not None])

    weight = [] if "*" in [expression.strip() for expression in expressions] else [WEIGHT]

    def selected(frame: Any) -> Any:
        return frame.selectExpr(*expressions, *weight)

    return Transform(selected)


def flattened(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function from frames to frames, which must not lose the weights of rows."""

    def checked(frame: Any) -> Any:
        made = function(frame)
        if WEIGHT not in made.columns:
            raise ExecutionError(
                f"the function gives the columns {', '.join(made.columns)}, without {WEIGHT!r}: it"
                " says how many of a row come or go, so keep it as it is"
            )
        return made

    return checked


def weighted(column: str, place: str) -> Callable[[Any], Any]:
    """The function that takes a column of the user's, written at ``place``, for the weight."""

    def weigh(frame: Any) -> Any:
        from pyspark.sql import functions as F

        given = frame[quoted(column)]
        kind = frame.select(given).schema[0].dataType.typeName()
        if kind not in WHOLE:
            raise ExecutionError(
                f"{column!r} says how many of a row come or go, so it is a whole number, not a"
                f" {kind}: CAST it before"
            )
        told = f"{place}: {column!r} is null, and so does not say how many of a row come or go"
        weight = F.coalesce(given.cast("bigint"), F.raise_error(F.lit(told)).cast("bigint"))
        return frame.withColumn(WEIGHT, weight).drop(column).where(f"{WEIGHT} != 0")

    return weigh
