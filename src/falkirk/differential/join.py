"""Joins: what comes on one side meets all that the other side has, at the join of their times."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.errors import ExecutionError
from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor
from falkirk.differential.adding import add_up
from falkirk.differential.index import Index
from falkirk.differential.local import apart, joined
from falkirk.differential.times import meeting
from falkirk.differential.traces import (
    ROW_BYTES,
    Runs,
    read,
    split,
    united,
)
from falkirk.differential.weights import WEIGHT, check_columns, quoted, stacked

SIDES = ("left", "right")
FAN_OUT = 256
"""How many rows one row of a small side is taken to meet at most: a guess that costs memory."""


class Join(Processor):
    """Keeps both sides by time, and sends at t the pairs of changes that meet exactly at t.

    A join is linear in each side, so its change at t is the sum over all pairs of changes whose
    times have t for their join.
    """

    lattice = True

    def __init__(self, on: Sequence[str]) -> None:
        """Rows meet that agree on the columns ``on``."""
        self.on = self.merge_keys = tuple(on)
        self.indexes = (Index(), Index())

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps what came."""
        if not batch.is_empty():
            ctx.state.put(batch, label=SIDES[port])

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends the pairs that meet at ``time``."""
        left, right = (read(ctx.state.trace(side)) for side in SIDES)
        tables, frames, size = [], [], 0
        for ours, theirs in meeting(time, left, right):
            one, other = split(ours), split(theirs)
            self.check(one.columns, other.columns)
            if one.small and other.small:
                tables.append(self.local_pairs(one.small, other.small))
            for a, b in by_spark(one, other):
                frames.append(self.pairs(ctx, a, b))
                size += min(a.rows, b.rows) * FAN_OUT * ROW_BYTES
        tables = [table for table in tables if table.num_rows]
        if frames:
            frames += [ctx.batch(table).frame for table in tables]
            ctx.send(ctx.batch(united(frames), size=size))
        elif tables:
            ctx.send(ctx.batch(stacked(tables)))

    def consolidate(self, ctx: Context, batches: list[Batch]) -> Batch:
        """Adds up changes of one side."""
        return add_up(ctx, batches)

    def check(self, left: Sequence[str], right: Sequence[str]) -> None:
        """Refuses sides without the columns to join on, or with others of the same name."""
        check_columns(self.on, left)
        check_columns(self.on, right)
        known = {name.lower() for name in left}
        twice = [n for n in right if n.lower() in known and n not in (*self.on, WEIGHT)]
        if twice:
            raise ExecutionError(
                f"both sides of a join have the column {', '.join(map(repr, twice))}: give one"
                " another name with map"
            )

    def local_pairs(self, left: Sequence[pa.Table], right: Sequence[pa.Table]) -> pa.Table:
        """Rows that agree, on the driver; those of the larger side are looked up."""
        sides = [list(left), list(right)]
        rows = [sum(table.num_rows for table in side) for side in sides]
        large = 0 if rows[0] > rows[1] else 1
        wanted = stacked([table.select(list(self.on)) for table in sides[1 - large]])
        sides[large] = self.indexes[large].narrowed(sides[large], self.on, wanted)
        return joined(stacked(sides[0]), stacked(sides[1]), self.on)

    def pairs(self, ctx: Context, left: Runs, right: Runs) -> Any:
        """Rows that agree, by Spark; the small side goes to where the large one is."""
        from pyspark.sql import functions as F

        one, other = left.frame(ctx), right.frame(ctx)
        for key in self.on:
            alike(key, one.schema[key].dataType, other.schema[key].dataType)
        columns = [*self.on, *(n for n in one.columns if n not in (*self.on, WEIGHT))]
        columns += [n for n in other.columns if n not in (*self.on, WEIGHT)]
        other = other.withColumnRenamed(WEIGHT, "_other")
        if left.local:
            one = F.broadcast(one)
        elif right.local:
            other = F.broadcast(other)
        met = one.join(other, on=list(self.on))
        return met.select(*map(quoted, columns), (met[WEIGHT] * met["_other"]).alias(WEIGHT))


def alike(key: str, one: Any, other: Any) -> None:
    """Refuses to join columns of different kinds, as ``local`` does; numbers may be wider."""
    from pyspark.sql.types import DecimalType, FractionalType, IntegralType, NullType

    if one == other or isinstance(one, NullType) or isinstance(other, NullType):
        return
    for kind in (IntegralType, DecimalType, FractionalType):
        if isinstance(one, kind) or isinstance(other, kind):
            if isinstance(one, kind) and isinstance(other, kind):
                return
            break
    raise apart(key, one.simpleString(), other.simpleString())


def by_spark(left: Runs, right: Runs) -> list[tuple[Runs, Runs]]:
    """The pairs of parts that Spark has to join: all but those that are both on the driver."""
    if left.large and right.large:
        found = [(Runs(large=left.large), right)]
        return [*found, (Runs(small=left.small), Runs(large=right.large))] if left.small else found
    found = []
    if left.large and right.small:
        found.append((Runs(large=left.large), right))
    if right.large and left.small:
        found.append((left, Runs(large=right.large)))
    return found
