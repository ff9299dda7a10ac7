"""What can be made of a group: each reducer works on an Arrow table and on a Spark frame alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from falkirk.core.errors import ExecutionError
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.differential.weights import (
    ONE,
    WEIGHT,
    WHOLE,
    added,
    added_frame,
    check_columns,
    groupable,
    quoted,
    weighed,
)

SUMMED = (*WHOLE, "decimal", "void")
"""Spark's names of the types that can be added up and taken away again without rounding."""


class Reducer:
    """Makes rows of the rows of each group; they bear the group's keys.

    ``measures`` are the columns that are summed when equal rows are added up.
    """

    measures: tuple[str, ...] = ONE

    def prepared(self, ctx: Context, batch: Batch, keys: Sequence[str]) -> Batch:
        """What is to be kept of rows that came in."""
        return batch

    def reduced(self, ctx: Context, table: pa.Table, keys: Sequence[str]) -> pa.Table:
        """The rows of all groups in ``table``, in which equal rows are one."""
        frame = ctx.batch(table).frame
        return ctx.batch(self.reduced_frame(frame, keys), size=table.nbytes).arrow()

    def reduced_frame(self, frame: Any, keys: Sequence[str]) -> Any:
        """The same by Spark."""
        raise NotImplementedError


@dataclass(frozen=True)
class Least(Reducer):
    """The least, or the greatest, value of a column."""

    column: str
    greatest: bool = False

    def reduced(self, ctx: Context, table: pa.Table, keys: Sequence[str]) -> pa.Table:
        """By Arrow, but for what it orders in another way than Spark."""
        if self.column not in table.schema.names or pa.types.is_floating(table[self.column].type):
            return super().reduced(ctx, table, keys)
        there = table.filter(pc.greater(table[WEIGHT], 0))
        how = "max" if self.greatest else "min"
        found = there.group_by(list(keys), use_threads=False).aggregate([(self.column, how)])
        found = found.rename_columns([*keys, self.column])
        return with_ones(found.cast(table.select([*keys, self.column]).schema))

    def reduced_frame(self, frame: Any, keys: Sequence[str]) -> Any:
        """By Spark."""
        from pyspark.sql import functions as F

        how = F.max if self.greatest else F.min
        there = frame.where(frame[WEIGHT] > 0).groupBy(*map(quoted, keys))
        found = there.agg(how(quoted(self.column)).alias(self.column))
        return found.withColumn(WEIGHT, F.lit(1).cast("bigint"))


@dataclass(frozen=True)
class Weights(Reducer):
    """Each row as often as ``function`` says, given how often it is there; distinct rows are such.

    It is never asked about rows that are not there at all.
    """

    function: Callable[[int], int]

    def reduced(self, ctx: Context, table: pa.Table, keys: Sequence[str]) -> pa.Table:
        """By Python, for each multiplicity once."""
        counts = table[WEIGHT].unique().to_pylist()
        becomes = pa.array([self.weight(count) for count in counts], pa.int64())
        places = pc.index_in(table[WEIGHT], value_set=pa.array(counts, pa.int64()))
        found = weighed(table, becomes.take(places.combine_chunks()))
        return found.filter(pc.not_equal(found[WEIGHT], 0))

    def reduced_frame(self, frame: Any, keys: Sequence[str]) -> Any:
        """By Spark, which calls the function for each row."""
        from pyspark.sql import functions as F

        # Spark would take type hints to say how to hand over rows.
        weight = F.udf(lambda count: self.weight(count), "bigint")
        return frame.withColumn(WEIGHT, weight(WEIGHT)).where(f"{WEIGHT} != 0")

    def weight(self, count: int) -> int:
        """What the function says, if that is a whole number."""
        found = self.function(count)
        if isinstance(found, bool) or not isinstance(found, int):
            raise ExecutionError(f"a threshold gives a whole number, not {found!r} for {count}")
        return found


@dataclass(frozen=True)
class Once(Reducer):
    """Each row that is there, once."""

    def reduced(self, ctx: Context, table: pa.Table, keys: Sequence[str]) -> pa.Table:
        """By Arrow."""
        there = table.filter(pc.greater(table[WEIGHT], 0))
        return weighed(there, ones(there.num_rows))

    def reduced_frame(self, frame: Any, keys: Sequence[str]) -> Any:
        """By Spark."""
        from pyspark.sql import functions as F

        return frame.where(frame[WEIGHT] > 0).withColumn(WEIGHT, F.lit(1).cast("bigint"))


@dataclass(frozen=True)
class Sums(Reducer):
    """How many rows a group has, and sums over it: what can be added up without keeping the rows.

    ``count`` is the name of the column for how many there are; ``sums`` has an SQL expression for
    each further column.
    """

    count: str | None
    sums: Mapping[str, str]

    @property
    def measures(self) -> tuple[str, ...]:  # type: ignore[override]
        """The weight, and for each sum what it is and how many values it has."""
        return (WEIGHT, *(name for i in range(len(self.sums)) for name in (f"_sum{i}", f"_has{i}")))

    def prepared(self, ctx: Context, batch: Batch, keys: Sequence[str]) -> Batch:
        """One row for each group; for how many there are, no expression needs Spark."""
        if batch.small and not self.sums:
            table = batch.arrow()
            check_columns(keys, table.schema.names)
            if groupable(table.select(list(keys)).schema):
                return ctx.batch(added([table.select([*keys, WEIGHT])]))
        return batch.transform(lambda frame: self.partial(frame, keys))

    def partial(self, frame: Any, keys: Sequence[str]) -> Any:
        """One row for each group of a frame."""
        from pyspark.sql import functions as F

        chosen = [F.col(quoted(key)) for key in keys]
        for i, (name, expression) in enumerate(self.sums.items()):
            value = F.expr(expression)
            kind = frame.select(value).schema[0].dataType.typeName()
            if kind in ("float", "double"):
                raise ExecutionError(
                    f"{name} sums a {kind}: such sums depend on the order of the rows, so they"
                    " cannot be kept up to date; CAST it to a DECIMAL, or to a whole number"
                )
            if kind not in SUMMED:
                raise ExecutionError(
                    f"{name} sums a {kind}: only whole numbers and decimals can be summed"
                )
            chosen += [
                F.coalesce(value * F.col(WEIGHT), F.lit(0)).alias(f"_sum{i}"),
                F.when(value.isNotNull(), F.col(WEIGHT)).otherwise(0).alias(f"_has{i}"),
            ]
        return added_frame(frame.select(*chosen, WEIGHT), self.measures)

    def reduced(self, ctx: Context, table: pa.Table, keys: Sequence[str]) -> pa.Table:
        """By Arrow: the sums are the result."""
        columns = {key: table[key] for key in keys}
        if self.count:
            columns[self.count] = table[WEIGHT]
        for i, name in enumerate(self.sums):
            has, null = pc.not_equal(table[f"_has{i}"], 0), pa.scalar(None, table[f"_sum{i}"].type)
            columns[name] = pc.if_else(has, table[f"_sum{i}"], null)
        there = pc.not_equal(table[WEIGHT], 0)
        return with_ones(pa.table(columns).filter(there))

    def reduced_frame(self, frame: Any, keys: Sequence[str]) -> Any:
        """By Spark."""
        from pyspark.sql import functions as F

        chosen = [F.col(quoted(key)) for key in keys]
        if self.count:
            chosen.append(F.col(WEIGHT).alias(self.count))
        for i, name in enumerate(self.sums):
            chosen.append(F.when(F.col(f"_has{i}") != 0, F.col(f"_sum{i}")).alias(name))
        there = frame.where(f"{WEIGHT} != 0")
        return there.select(*chosen, F.lit(1).cast("bigint").alias(WEIGHT))


@dataclass(frozen=True)
class Top(Reducer):
    """The first ``rows`` rows of each group, by SQL orderings such as ``"price DESC"``.

    Rows that are equal by those are told apart by all their columns, so the choice is fixed.
    """

    rows: int
    by: tuple[str, ...]

    def reduced_frame(self, frame: Any, keys: Sequence[str]) -> Any:
        """By Spark, which knows how to order."""
        from pyspark.sql import functions as F

        rest = [quoted(name) for name in frame.columns if name != WEIGHT]
        over = (
            f"PARTITION BY {', '.join(map(quoted, keys))} ORDER BY {', '.join([*self.by, *rest])}"
        )
        there = frame.where(frame[WEIGHT] > 0)
        before = F.expr(f"sum({WEIGHT}) OVER ({over}) - {WEIGHT}")
        chosen = there.withColumn("_before", before).where(F.col("_before") < self.rows)
        weight = F.least(F.col(WEIGHT), F.lit(self.rows).cast("bigint") - F.col("_before"))
        return chosen.withColumn(WEIGHT, weight).drop("_before")


def ones(rows: int) -> pa.Array:
    """The weight one, so many times."""
    return pa.repeat(pa.scalar(1, pa.int64()), rows)


def with_ones(table: pa.Table) -> pa.Table:
    """All rows, each once."""
    return table.append_column(WEIGHT, ones(table.num_rows))
