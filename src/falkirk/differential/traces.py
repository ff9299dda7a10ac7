"""Reading traces by keys: what is small is read on the driver, what is large by one Spark job."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.differential.local import having
from falkirk.differential.weights import check_columns, groupable, quoted, stacked

FETCHED_KEYS_MAX = 20_000
"""The rows of so many keys are fetched from executors; those of more are worked on there."""

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


def runs(batches: Iterable[Batch]) -> Runs:
    """Sorts batches by where they are read; all of them are evaluated."""
    found = Runs()
    for batch in batches:
        if batch.is_empty():
            continue
        if batch.small:
            table = batch.arrow()
            if groupable(table.schema):
                found.small.append(table)
                continue
        found.large.append(batch)
    return found


def united(frames: Sequence[Any]) -> Any:
    """All rows of several frames with the same columns."""
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.unionByName(other)
    return frame


def gathered(
    ctx: Context, pieces: Mapping[str, Runs], keys: Sequence[str], wanted: pa.Table
) -> dict[str, pa.Table]:
    """The rows with wanted keys of several traces, each as one table: one job, if any is large.

    A trace without rows has no columns, so it is left out.
    """
    found: dict[str, list[pa.Table]] = {
        label: [having(each.table(), keys, wanted)] if each.small else []
        for label, each in pieces.items()
    }
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
