"""Weighted rows: a batch of a collection says of each row how many are added or taken away.

A collection is the sum of all its batches. Rows are equal as SQL groups them: nulls are equal, and
so are 0.0 and -0.0. Arrow on the driver and Spark give the same rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from falkirk.core.errors import ExecutionError

WEIGHT = "_weight"
"""The column that says how many of a row there are; users never name a column so."""

ONE = (WEIGHT,)

WHOLE = ("byte", "short", "integer", "long")
"""Spark's names of the types of whole numbers."""


def added(tables: Sequence[pa.Table], measures: Sequence[str] = ONE) -> pa.Table:
    """Equal rows of all tables in one, their measures summed; what adds up to nothing is gone.

    >>> come = pa.table({"word": ["a", "b", "a"], WEIGHT: [1, 1, 1]})
    >>> gone = pa.table({"word": ["b"], WEIGHT: [-1]})
    >>> added([come, gone]).to_pylist()
    [{'word': 'a', '_weight': 2}]
    """
    table = stacked(tables)
    schema = table.schema
    rest = [name for name in schema.names if name not in measures]
    table = settled_floats(table, rest)
    if rest:
        sums = [(name, "sum") for name in measures]
        grouped = table.group_by(rest, use_threads=False).aggregate(sums)
        found = {
            name: grouped[f"{name}_sum" if name in measures else name] for name in schema.names
        }
        columns = [like(found[field.name], field.type) for field in schema]
        summed = pa.Table.from_arrays(columns, schema=schema)
    else:
        summed = pa.table(
            {name: [pc.sum(table[name]).as_py() or 0] for name in measures}, schema=schema
        )
    there = some(summed, measures)
    return summed if pc.all(there).as_py() else summed.filter(there)


def like(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column with values of a type; sums may have come out wider."""
    return column if column.type == kind else column.cast(kind)


def stacked(tables: Sequence[pa.Table]) -> pa.Table:
    """All rows of tables with the same columns, in the order of the first; nothing is widened."""
    model = tables[0].schema
    if all(table.schema.equals(model) for table in tables[1:]):
        return pa.concat_tables(tables)
    names = model.names
    kinds: dict[str, pa.DataType] = {}
    for table, name in ((table, name) for table in tables for name in names):
        if name not in table.schema.names or len(table.schema) != len(names):
            raise different_columns([each.schema.names for each in tables])
        kind = table.schema.field(name).type
        if kinds.setdefault(name, kind) != kind and not pa.types.is_null(kind):
            if not pa.types.is_null(kinds[name]):
                raise different_kinds(name, kinds[name], kind)
            kinds[name] = kind
    schema = pa.schema([(name, kinds[name]) for name in names])
    return pa.concat_tables([table.select(names).cast(schema) for table in tables])


def different_columns(names: Iterable[Sequence[str]]) -> ExecutionError:
    """The error for rows that should be added up and cannot; without columns of our own."""
    known = {", ".join(sorted(n for n in each if not n.startswith("_"))) for each in names}
    there = " and ".join(sorted(known))
    return ExecutionError(f"rows that come together have different columns: {there}")


def different_kinds(name: str, one: object, other: object) -> ExecutionError:
    """The error for a column that has one type here and another one there."""
    return ExecutionError(
        f"rows that come together have the column {name!r} as {one} and as {other}: a map with CAST"
        " makes them the same"
    )


def check_columns(wanted: Sequence[str], there: Sequence[str]) -> None:
    """Refuses names of columns that rows do not have."""
    missing = [name for name in wanted if name not in there]
    if missing:
        have = ", ".join(name for name in there if not name.startswith("_"))
        raise ExecutionError(
            f"there is no column {', '.join(map(repr, missing))}: there are {have}"
        )


def some(table: pa.Table, measures: Sequence[str]) -> Any:
    """Which rows have a measure that is not nothing."""
    found = pc.not_equal(table[measures[0]], 0)
    for name in measures[1:]:
        found = pc.or_(found, pc.not_equal(table[name], 0))
    return found


def settled_floats(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """-0.0 becomes 0.0, as Spark groups them."""
    for name in names:
        place = table.schema.get_field_index(name)
        if pa.types.is_floating(table.schema.field(place).type):
            table = table.set_column(place, name, pc.add(table[name], 0.0).cast(table[name].type))
    return table


def negated(table: pa.Table) -> pa.Table:
    """All rows with the opposite weight."""
    return weighed(table, pc.negate(table[WEIGHT]))


def weighed(table: pa.Table, weights: Any) -> pa.Table:
    """All rows with other weights."""
    place = table.schema.get_field_index(WEIGHT)
    return table.set_column(place, table.schema.field(place), weights)


def groupable(schema: pa.Schema) -> bool:
    """Whether Arrow can tell the rows apart as Spark does."""
    return all(is_plain(field.type) for field in schema)


def is_plain(kind: pa.DataType) -> bool:
    """Whether values of a type are one word each, or text."""
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_boolean(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_temporal(kind)
        or types.is_binary(kind)
    )


# By Spark.


def added_frame(frame: Any, measures: Sequence[str] = ONE) -> Any:
    """Equal rows in one, their measures summed; what adds up to nothing is gone."""
    from pyspark.sql import functions as F

    types = dict(frame.dtypes)
    rest = [quoted(name) for name in frame.columns if name not in measures]
    sums = [F.sum(quoted(m)).cast(types[m]).alias(m) for m in measures]
    summed = frame.groupBy(*rest).agg(*sums)
    condition = F.col(quoted(measures[0])) != 0
    for name in measures[1:]:
        condition = condition | (F.col(quoted(name)) != 0)
    return summed.where(condition).select(*map(quoted, frame.columns))


def negated_frame(frame: Any) -> Any:
    """All rows with the opposite weight."""
    return frame.withColumn(WEIGHT, -frame[WEIGHT])


def quoted(name: str) -> str:
    """A column's name as SQL takes it."""
    return "`" + name.replace("`", "``") + "`"
