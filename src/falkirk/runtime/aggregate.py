"""Merges partial aggregates: by Arrow on the driver when they are small, else by Spark.

The two give the same rows. Nulls are groups of their own among keys and are passed over among
values, as in SQL.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from falkirk.runtime.content import Content, Several
from falkirk.runtime.joining import fits
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.one_task import BROADCAST_BYTES_MAX

Merges = Sequence[tuple[str, str]]
"""Columns, each with the function that merges two values of it: sum, min or max."""

TOUCHED = "__touched"


def aggregate(
    materialiser: Materialiser,
    parts: Sequence[Content],
    keys: Sequence[str],
    merges: Merges,
    touched: Content | None = None,
) -> Content:
    """One row a group; with ``touched``, only of the groups whose keys occur there."""
    contents = [*parts, *([touched] if touched is not None else [])]
    for content in contents:
        materialiser.settle(content)
    if materialiser.all_small(contents):
        tables = [materialiser.table(part) for part in parts]
        only = materialiser.table(touched) if touched is not None else None
        return Content(table=on_driver(tables, keys, merges, only))

    few = touched is not None and fits(touched, BROADCAST_BYTES_MAX)

    def merged(frames: list[Any]) -> Any:
        only = distinct_keys(frames[-1], keys, few) if touched is not None else None
        return on_spark(frames[: len(parts)], keys, merges, only)

    return Content(plan=Several(tuple(contents), merged))


def on_driver(
    tables: Sequence[pa.Table], keys: Sequence[str], merges: Merges, touched: pa.Table | None
) -> pa.Table:
    """Merges tables with Arrow.

    >>> counts = pa.table({"word": ["a", "b", "a"], "n": [1, 2, 3]})
    >>> on_driver([counts], ["word"], [("n", "sum")], pa.table({"word": ["a"]})).to_pylist()
    [{'word': 'a', 'n': 4}]
    """
    schema = tables[0].schema
    # One table first: where a pin keeps runs from being merged there are thousands of small ones.
    table = pa.concat_tables(tables, promote_options="permissive").cast(schema).combine_chunks()
    wanted = [*merges]
    if touched is not None:
        table = marked(restricted(table, keys, touched), 0)
        table = pa.concat_tables(
            [table, marked(touched.select(keys), 1)], promote_options="permissive"
        )
        wanted.append((TOUCHED, "max"))
    grouped = table.group_by(list(keys), use_threads=False).aggregate(wanted)
    grouped = grouped.rename_columns([*keys, *(column for column, _ in wanted)])
    if touched is not None:
        grouped = grouped.filter(pc.equal(grouped[TOUCHED], 1)).drop_columns([TOUCHED])
    return grouped.select(schema.names).cast(schema)


def restricted(table: pa.Table, keys: Sequence[str], touched: pa.Table) -> pa.Table:
    """Leaves out rows with a key value that does not occur: cheap, and exact for one key."""
    for key in keys:
        values = pc.unique(touched[key]).cast(table[key].type)
        table = table.filter(pc.is_in(table[key], value_set=values))
    return table


def marked(table: pa.Table, mark: int) -> pa.Table:
    """The table with a column that says where its rows came from."""
    return table.append_column(TOUCHED, pa.repeat(pa.scalar(mark, pa.int8()), table.num_rows))


def distinct_keys(frame: Any, keys: Sequence[str], few: bool) -> Any:
    """The keys that occur, each once, under names of their own; ``few`` go to where others are."""
    only = frame.select(*(frame[key].alias(f"{TOUCHED}_{key}") for key in keys)).distinct()
    return only.hint("broadcast") if few else only


def on_spark(frames: Sequence[Any], keys: Sequence[str], merges: Merges, only: Any) -> Any:
    """Merges frames with Spark, as far as their keys are in ``only``; nothing is evaluated yet."""
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.unionByName(other)
    columns = frame.columns
    if only is not None:
        same = [frame[key].eqNullSafe(only[f"{TOUCHED}_{key}"]) for key in keys]
        frame = frame.join(only, on=same, how="left_semi")
    types = dict(frame.dtypes)
    merged = [f"CAST({how}(`{column}`) AS {types[column]}) AS `{column}`" for column, how in merges]
    return grouped(frame, keys, merged).select(*columns)


def grouped(frame: Any, keys: Sequence[str], expressions: Sequence[str]) -> Any:
    """Groups by ``keys`` and aggregates by SQL expressions."""
    from pyspark.sql import functions as F

    return frame.groupBy(*keys).agg(*(F.expr(expression) for expression in expressions))
