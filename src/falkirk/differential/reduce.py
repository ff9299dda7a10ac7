"""Reduction: what a function makes of each group, kept up to date as groups change.

At t only the groups matter whose changes have t for a join of their times. For those the rows up to
t are added up, the function is applied, and the difference to what was sent up to t is sent.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.dataflow.processor import Processor
from falkirk.differential.adding import add_up
from falkirk.differential.index import Index
from falkirk.differential.local import distinct, having
from falkirk.differential.reducers import Reducer
from falkirk.differential.times import touching
from falkirk.differential.traces import (
    FETCHED_KEYS_MAX,
    Runs,
    gathered,
    read,
    runs,
    split,
    united,
)
from falkirk.differential.weights import (
    ONE,
    WEIGHT,
    added,
    added_frame,
    check_columns,
    negated,
    negated_frame,
    quoted,
)

IN, OUT = "in", "out"


class Reduce(Processor):
    """Keeps by time what came in and what went out, and sends the difference."""

    lattice = True

    def __init__(self, keys: Sequence[str], reducer: Reducer) -> None:
        """``reducer`` makes rows of the rows of one group, which have the same ``keys``.

        Without keys, a group is all rows that are equal.
        """
        self.keys = self.merge_keys = tuple(keys)
        self.reducer = reducer
        self.indexes = {IN: Index(), OUT: Index()}

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps what came, as far as the reducer needs it."""
        prepared = self.reducer.prepared(ctx, batch, self.keys)
        if not prepared.is_empty():
            ctx.state.put(prepared, label=IN)

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends how the groups change at ``time``."""
        came = read(ctx.state.trace(IN))
        coordinates = [split(pieces) for pieces in touching(time, came)]
        if not all(each.rows for each in coordinates):
            return
        before = split(piece for _, piece in came)
        keys = self.keys or tuple(n for n in before.columns if n != WEIGHT)
        check_columns(keys, before.columns)
        wanted = touched(coordinates, keys, self.indexes[IN])
        if wanted is not None and not wanted.num_rows:
            return
        after = runs(ctx.state.visible(OUT))
        many = wanted is None or wanted.num_rows > FETCHED_KEYS_MAX
        if wanted is None or (many and not (before.local and after.local)):
            change = self.by_spark(ctx, keys, coordinates, before, after)
        else:
            change = self.by_keys(ctx, keys, wanted, before, after)
        if not change.is_empty():
            ctx.state.put(change, label=OUT)
            ctx.send(change)

    def consolidate(self, ctx: Context, batches: list[Batch]) -> Batch:
        """Adds up changes; what came in has other measures than what went out."""
        found, measures = runs(batches), self.reducer.measures
        measured = found.rows and set(measures) <= set(found.columns)
        return add_up(ctx, batches, measures if measured else ONE)

    def by_keys(
        self, ctx: Context, keys: Sequence[str], wanted: pa.Table, before: Runs, after: Runs
    ) -> Batch:
        """The change of the groups ``wanted``, whose rows come to the driver."""
        rows = gathered(ctx, {IN: before, OUT: after}, self.indexes, keys, wanted)
        now = self.reducer.reduced(ctx, added([rows[IN]], self.reducer.measures), keys)
        if OUT not in rows:
            return ctx.batch(now)
        return ctx.batch(added([now, negated(rows[OUT])]))

    def by_spark(
        self,
        ctx: Context,
        keys: Sequence[str],
        coordinates: Sequence[Runs],
        before: Runs,
        after: Runs,
    ) -> Batch:
        """The change of all groups that have a key in each of ``coordinates``."""
        frame, only = before.frame(ctx), None
        if after.rows or any(each.rows < before.rows for each in coordinates):
            least = min(coordinates, key=lambda each: each.rows)
            only = least.frame(ctx).select(*map(quoted, keys)).distinct()
            only = only.hint("broadcast") if least.local else only
            frame = matching(frame, only, keys)
        now = self.reducer.reduced_frame(added_frame(frame, self.reducer.measures), keys)
        if after.rows:
            gone = negated_frame(matching(after.frame(ctx), only, keys))
            now = added_frame(united([now, gone]))
        return ctx.batch(now).materialise()


def touched(coordinates: Sequence[Runs], keys: Sequence[str], index: Index) -> pa.Table | None:
    """The keys that may change, or a few more; None if only Spark can tell."""
    local = sorted((each for each in coordinates if each.local), key=lambda each: each.rows)
    if not local:
        return None
    wanted = distinct(local[0].small, keys)
    for other in local[1:]:
        candidates = index.narrowed(other.small, keys, wanted)
        wanted = having(wanted, keys, distinct(candidates, keys))
    return wanted


def matching(frame: Any, only: Any, keys: Sequence[str]) -> Any:
    """The rows whose keys occur in ``only``; null is a value like others."""
    only = only.toDF(*(f"_key_{i}" for i in range(len(keys))))
    same = [frame[quoted(key)].eqNullSafe(only[f"_key_{i}"]) for i, key in enumerate(keys)]
    return frame.join(only, on=same, how="left_semi")
