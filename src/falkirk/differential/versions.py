"""The way from changes back to rows: the whole collection, each time that it has changed."""

from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor
from falkirk.differential.adding import add_up
from falkirk.differential.weights import WEIGHT


class Versions(Processor):
    """Sends all rows of the collection at every time at which it changes."""

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps the change for good."""
        if not batch.is_empty():
            ctx.state.put(batch)
            ctx.notify()

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends the sum of all changes, unless those of this time cancel each other."""
        if not add_up(ctx, ctx.state.own()).is_empty():
            ctx.send(unweighted(ctx, add_up(ctx, ctx.state.visible())))

    def consolidate(self, ctx: Context, batches: list[Batch]) -> Batch:
        """The sum of several changes."""
        return add_up(ctx, batches)


def unweighted(ctx: Context, batch: Batch) -> Batch:
    """Every row as often as its weight says."""
    if batch.small:
        return ctx.batch(repeated(batch.arrow()))
    from pyspark.sql import functions as F

    often = F.explode(F.sequence(F.lit(1).cast("bigint"), F.col(WEIGHT)))
    frame = batch.frame.where(f"{WEIGHT} > 0").withColumn(WEIGHT, often)
    return ctx.batch(frame.drop(WEIGHT)).materialise()


def repeated(table: pa.Table) -> Any:
    """The same of a table.

    >>> repeated(pa.table({"word": ["a", "b"], WEIGHT: [2, 1]})).to_pylist()
    [{'word': 'a'}, {'word': 'a'}, {'word': 'b'}]
    """
    often = table[WEIGHT].to_pylist()
    places = pa.array([i for i, count in enumerate(often) for _ in range(count)], pa.int64())
    return table.drop_columns([WEIGHT]).take(places)
