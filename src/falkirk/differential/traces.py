"""Reading traces by keys: what is small is read on the driver, what is large by one Spark job."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.differential.index import Index
from falkirk.differential.local import having
from falkirk.differential.weights import (
    check_columns,
    different_columns,
    different_kinds,
    groupable,
    quoted,
    stacked,
)

FETCHED_KEYS_MAX = 20_000
"""The rows of so many keys are fetched from executors; those of more are worked on there."""

Piece = Any
"""A table, if the rows rest on the driver and Arrow can tell them apart; else a batch."""

VOID = "void"
"""Spark's name for the type of a column in which all is null."""

ROW_BYTES = 64
"""What a row that is fetched is taken to have, where nobody has counted."""


@dataclass(slots=True)
class Runs:
    """Some pieces of a trace: tables on the driver, and batches that only Spark should read."""

    small: list[pa.Table] = field(default_factory=list)
    large: list[Batch] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        found = [table.num_rows for table in self.small] + [each.rows or 0 for each in self.large]
        return int(sum(found))

    @property
    def local(self) -> bool:
        """Whether all rows are on the driver."""
        return not self.large

    @property
    def columns(self) -> list[str]:
        """The columns, which all pieces have."""
        return list(self.small[0].schema.names if self.small else self.large[0].frame.columns)

    def table(self) -> pa.Table:
        """The rows on the driver as one table."""
        return stacked(self.small)

    def frames(self, ctx: Context) -> list[Any]:
        """All rows as frames: those on the driver as one."""
        found = [batch.spread().frame for batch in self.large]
        return [*found, ctx.batch(self.table()).frame] if self.small else found

    def frame(self, ctx: Context) -> Any:
        """All rows as one frame."""
        return united(self.frames(ctx))


def read(trace: Iterable[tuple[Time, Batch]]) -> list[tuple[Time, Piece]]:
    """The pieces of a trace in the form in which each is read, but those without rows.

    All of them are evaluated.
    """
    found: list[tuple[Time, Piece]] = []
    known: pa.Schema | None = None
    for time, batch in trace:
        if not batch.small and batch.is_empty():
            continue
        if not batch.small:
            found.append((time, batch))
            continue
        table = batch.arrow()
        if not table.num_rows:
            continue
        if known is not None and table.schema.equals(known):
            found.append((time, table))
        elif groupable(table.schema):
            known = table.schema
            found.append((time, table))
        else:
            found.append((time, batch))
    return found


def split(pieces: Iterable[Piece]) -> Runs:
    """Sorts pieces by where they are read."""
    found = Runs()
    for piece in pieces:
        if isinstance(piece, pa.Table):
            found.small.append(piece)
        else:
            found.large.append(piece)
    return found


def runs(batches: Iterable[Batch]) -> Runs:
    """Sorts batches by where they are read; all of them are evaluated."""
    return split(piece for _, piece in read(((), batch) for batch in batches))


def united(frames: Sequence[Any]) -> Any:
    """All rows of several frames with the same columns; nothing is widened."""
    frame = frames[0]
    kinds = dict(frame.dtypes) if len(frames) > 1 else {}
    for other in frames[1:]:
        found = dict(other.dtypes)
        if found.keys() != kinds.keys():
            raise different_columns([list(kinds), list(found)])
        for name, kind in found.items():
            if VOID not in (kind, kinds[name]) and kind != kinds[name]:
                raise different_kinds(name, kinds[name], kind)
        frame = frame.unionByName(other)
    return frame


def gathered(
    ctx: Context,
    pieces: Mapping[str, Runs],
    indexes: Mapping[str, Index],
    keys: Sequence[str],
    wanted: pa.Table,
) -> dict[str, pa.Table]:
    """The rows with wanted keys of several traces, each as one table: one job, if any is large.

    A trace without rows has no columns, so it is left out.
    """
    found: dict[str, list[pa.Table]] = {label: [] for label in pieces}
    for label, each in pieces.items():
        if each.small:
            candidates = stacked(indexes[label].narrowed(each.small, keys, wanted))
            found[label].append(having(candidates, keys, wanted))
    large = {label: each for label, each in pieces.items() if each.large}
    if large:
        for label, table in fetched(ctx, large, keys, wanted).items():
            found[label].append(table)
    return {label: stacked(tables) for label, tables in found.items() if tables}


def fetched(
    ctx: Context, pieces: Mapping[str, Runs], keys: Sequence[str], wanted: pa.Table
) -> dict[str, pa.Table]:
    """The rows with wanted keys of large pieces, all fetched by one job.

    Each trace has columns of its own in the result, which are null in the rows of the others.
    """
    from pyspark.sql import functions as F

    only = F.broadcast(
        ctx.batch(wanted.rename_columns([f"_key_{i}" for i in range(len(keys))])).frame
    )
    selected, names = [], {}
    for label, each in pieces.items():
        frame = united([batch.spread().frame for batch in each.large])
        names[label] = frame.columns
        check_columns(keys, frame.columns)
        same = [frame[quoted(k)].eqNullSafe(only[f"_key_{i}"]) for i, k in enumerate(keys)]
        frame = frame.join(only, on=same, how="left_semi")
        renamed = [F.col(quoted(n)).alias(f"{label}_{i}") for i, n in enumerate(frame.columns)]
        selected.append(frame.select(F.lit(label).alias("_label"), *renamed))
    both = selected[0]
    for other in selected[1:]:
        both = both.unionByName(other, allowMissingColumns=True)
    table = ctx.batch(both, size=wanted.num_rows * ROW_BYTES).arrow()
    found = {}
    for label, columns in names.items():
        own = table.filter(pa.compute.equal(table["_label"], label))
        own = own.select([f"{label}_{i}" for i in range(len(columns))])
        found[label] = own.rename_columns(columns)
    return found
