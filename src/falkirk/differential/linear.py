"""Operators that keep nothing: what they make of a change does not depend on what was before.

They extend plans, as all stateless operators do. Where a batch rests on the driver and only columns
are picked or signs turned, that is done there, so that the rounds of a loop need no job for it.
"""

import re
from collections.abc import Sequence
from typing import Any

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.operators.plan import Transform
from falkirk.dataflow.processor import Processor
from falkirk.differential.weights import WEIGHT, negated, negated_frame

PICKED = re.compile(r"\s*(\w+)\s*(?:\sAS\s+(\w+)\s*)?", re.IGNORECASE)


class Pick(Transform):
    """Columns by name, some of them under another one."""

    def __init__(self, columns: Sequence[tuple[str, str]]) -> None:
        """``columns`` are pairs of what a column is called and will be called."""
        self.columns = [*columns, (WEIGHT, WEIGHT)]
        chosen = [f"{old} AS {new}" for old, new in self.columns]
        super().__init__(lambda frame: frame.selectExpr(*chosen))

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Picks them at once, or extends the plan."""
        if batch.small:
            table = batch.arrow()
            if all(old in table.schema.names for old, _ in self.columns):
                picked = table.select([old for old, _ in self.columns])
                ctx.send(ctx.batch(picked.rename_columns([new for _, new in self.columns])))
                return
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

    >>> mapping(["a AS b", "c"]).columns
    [('a', 'b'), ('c', 'c'), ('_weight', '_weight')]
    >>> type(mapping(["a + 1 AS b"])).__name__
    'Transform'
    """
    picked = [PICKED.fullmatch(expression) for expression in expressions]
    if all(picked):
        return Pick([(each[1], each[2] or each[1]) for each in picked if each])

    def selected(frame: Any) -> Any:
        return frame.selectExpr(*expressions, WEIGHT)

    return Transform(selected)
