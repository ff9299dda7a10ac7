"""Matching rows by keys with Arrow, for what rests on the driver."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from falkirk.core.errors import ExecutionError
from falkirk.differential.codes import column_codes, pairs, tells_apart, whole
from falkirk.differential.weights import WEIGHT, settled_floats, stacked, weighed

ROW, OTHER = "_row", "_other"


def distinct(tables: Sequence[pa.Table], keys: Sequence[str]) -> pa.Table:
    """The values of the keys, each once."""
    table = settled_floats(stacked([each.select(list(keys)) for each in tables]), keys)
    if len(keys) == 1:
        return pa.table({keys[0]: pc.unique(table[keys[0]])})
    return table.group_by(list(keys), use_threads=False).aggregate([])


def having(table: pa.Table, keys: Sequence[str], wanted: pa.Table) -> pa.Table:
    """The rows whose keys occur in ``wanted``; null is a value like others.

    >>> table = pa.table({"k": [1, None, 3], "v": ["a", "b", "c"]})
    >>> having(table, ["k"], pa.table({"k": [None, 3]})).to_pylist()
    [{'k': None, 'v': 'b'}, {'k': 3, 'v': 'c'}]
    """
    if len(keys) == 1:
        key = keys[0]
        values = wanted[key].cast(table[key].type).combine_chunks()
        return table.filter(pc.is_in(settled_floats(table, keys)[key], value_set=values))
    rows, _ = matches(null_safe(table, keys), null_safe(wanted, keys))
    return table.take(rows.unique().sort())


def joined(left: pa.Table, right: pa.Table, on: Sequence[str]) -> pa.Table:
    """Rows that agree on ``on``, weights multiplied; null agrees with nothing, as in SQL.

    >>> left = pa.table({"k": [1, 2], "a": ["x", "y"], WEIGHT: [2, 1]})
    >>> right = pa.table({"k": [1, None], "b": ["u", "v"], WEIGHT: [-1, 1]})
    >>> joined(left, right, ["k"]).to_pylist()
    [{'k': 1, 'a': 'x', 'b': 'u', '_weight': -2}]
    """
    kept = left.schema
    for key in on:
        left, right = alike(left, right, key)
    left, right = narrowed(left, right, on), narrowed(right, left, on)
    rows, others = matches(plain(left, on), plain(right, on))
    found, other = left.take(rows), right.take(others)
    for name in right.schema.names:
        if name not in on and name != WEIGHT:
            found = found.append_column(right.schema.field(name), other[name])
    weights = pc.multiply(found[WEIGHT], other[WEIGHT])
    for key in on:
        found = retyped(found, key, kept.field(key).type)
    names = [name for name in found.schema.names if name != WEIGHT]
    return weighed(found, weights).select([*names, WEIGHT])


def alike(left: pa.Table, right: pa.Table, key: str) -> tuple[pa.Table, pa.Table]:
    """Both with a key of the same type, the wider one; refuses types that have nothing in common.

    >>> left, right = pa.table({"k": pa.array([1], pa.int32())}), pa.table({"k": [1 << 40]})
    >>> [table["k"].type for table in alike(left, right, "k")]
    [DataType(int64), DataType(int64)]
    """
    one, other = left.schema.field(key).type, right.schema.field(key).type
    if one == other or pa.types.is_null(one) or pa.types.is_null(other):
        return left, right
    wide = wider(one, other)
    if wide is None:
        raise apart(key, one, other)
    return retyped(left, key, wide), retyped(right, key, wide)


def wider(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """A type that has all values of two, if Spark would compare them as such, too."""
    types, both = pa.types, (one, other)
    if all(map(types.is_integer, both)):
        return pa.int64()
    if all(map(types.is_decimal, both)):
        scale = max(one.scale, other.scale)
        whole = max(one.precision - one.scale, other.precision - other.scale)
        return pa.decimal128(whole + scale, scale) if whole + scale <= 38 else None
    if all(map(types.is_floating, both)):
        return pa.float64()
    if all(types.is_string(each) or types.is_large_string(each) for each in both):
        return pa.large_string()
    if all(types.is_timestamp(each) for each in both) and (one.tz is None) == (other.tz is None):
        return pa.timestamp("us", None if one.tz is None else "UTC")
    return None


def retyped(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """A table in which a column has another type."""
    place = table.schema.get_field_index(name)
    if table.schema.field(place).type == kind:
        return table
    return table.set_column(place, pa.field(name, kind), table[name].cast(kind))


def apart(key: str, one: object, other: object) -> ExecutionError:
    """The error for a join by columns that have nothing in common."""
    return ExecutionError(
        f"the two sides of a join have the column {key!r} as {one} and as {other}: a map with CAST"
        " makes them the same"
    )


def narrowed(table: pa.Table, other: pa.Table, keys: Sequence[str]) -> pa.Table:
    """A large table without most of the rows that meet none of a small one.

    Looking up a few values is much cheaper than making a hash table of many.
    """
    if table.num_rows < 8 * other.num_rows:
        return table
    ours, wanted = plain(table, keys), plain(other, keys)
    for key in keys:
        there = pc.is_in(ours[key], value_set=pc.unique(wanted[key]).cast(ours[key].type))
        ours, table = ours.filter(there), table.filter(there)
    return table


def plain(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The keys alone."""
    return settled_floats(table.select(list(keys)), keys)


def null_safe(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The keys such that nulls match nulls: a column that says where there is one, beside each."""
    table, columns = plain(table, keys), {}
    for key in keys:
        columns[f"{key} is null"] = table[key].is_null()
        columns[key] = table[key].fill_null(any_value(table[key].type))
    return pa.table(columns)


def any_value(kind: pa.DataType) -> pa.Scalar:
    """Some value of a type.

    >>> any_value(pa.string()), any_value(pa.int32())
    (<pyarrow.StringScalar: ''>, <pyarrow.Int32Scalar: 0>)
    """
    for value in (0, "", b"", False):
        try:
            return pa.scalar(value, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
            continue
    raise TypeError(f"{kind} is no type of a key")


def matches(left: pa.Table, right: pa.Table) -> tuple[Any, Any]:
    """The places of all pairs of rows that are equal in all columns."""
    if left.schema == right.schema and tells_apart(left.schema, left.schema.names):
        return single_matches(left.column(0), right.column(0))
    numbered = left.append_column(ROW, pa.array(range(left.num_rows), pa.int64()))
    others = right.append_column(OTHER, pa.array(range(right.num_rows), pa.int64()))
    names = left.schema.names
    found = numbered.join(
        others.cast(schema_like(others, left)), names, join_type="inner", use_threads=False
    )
    return found[ROW], found[OTHER]


def single_matches(left: pa.ChunkedArray, right: pa.ChunkedArray) -> tuple[Any, Any]:
    """The places of all pairs of equal values, which numbers tell apart; null equals nothing."""
    ours, others = pairs(column_codes(whole(left)), column_codes(whole(right)))
    rows, found = pa.array(ours), pa.array(others)
    if left.null_count or right.null_count:
        there = pc.and_(left.is_valid().take(rows), right.is_valid().take(found))
        rows, found = rows.filter(there), found.filter(there)
    return rows, found


def schema_like(table: pa.Table, model: pa.Table) -> pa.Schema:
    """The schema of ``table`` with the types of ``model`` where that has the column."""
    fields = [
        model.schema.field(field.name) if field.name in model.schema.names else field
        for field in table.schema
    ]
    return pa.schema(fields)
