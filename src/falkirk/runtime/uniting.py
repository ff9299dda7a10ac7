"""Uniting batches: by the names of their columns, which must be the same and of the same types.

Arrow and Spark each widen types and fill what is missing in ways of their own. So nothing is
widened or filled: the result is the same on the driver and on executors, or an error on both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.pandas.types import from_arrow_type

from falkirk.core.errors import ExecutionError

Columns = Mapping[str, str]
"""The type of each column, as Spark's SQL calls it."""

UNKNOWN = "void"
"""The type of a column that has only ever had nulls: it goes with every type."""


def united_tables(tables: Sequence[pa.Table], alike: bool = True) -> pa.Table:
    """All rows of several tables.

    >>> a, b = pa.table({"n": [1], "w": ["x"]}), pa.table({"w": ["y"], "n": [2]})
    >>> united_tables([a, b]).to_pylist()
    [{'n': 1, 'w': 'x'}, {'n': 2, 'w': 'y'}]
    """
    first = tables[0].schema
    if alike and any(not table.schema.equals(first) for table in tables):
        check_alike([columns_of_table(table) for table in tables])
    return pa.concat_tables(tables, promote_options="permissive")


def united_frames(frames: Sequence[Any], alike: bool = True) -> Any:
    """All rows of several frames."""
    if alike and len(frames) > 1:
        check_alike([columns_of_frame(frame) for frame in frames])
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.unionByName(other, allowMissingColumns=True)
    return frame


def check_alike(found: Sequence[Columns]) -> None:
    """Refuses columns that are not the same.

    >>> check_alike([{"n": "int"}, {"n": "void"}])
    >>> check_alike([{"n": "int", "a": "int"}, {"n": "string"}])
    Traceback (most recent call last):
    ...
    falkirk.core.errors.ExecutionError: [FK600] batches that come together have different columns:
    'n' is int and string; 'a' is int and missing. A select before they meet makes them the same,
    with CAST or AS
    """
    names = list(dict.fromkeys(name for columns in found for name in columns))
    unlike = []
    for name in names:
        types = list(dict.fromkeys(columns.get(name, "missing") for columns in found))
        known = [each for each in types if each != UNKNOWN]
        if len(known) > 1 or ("missing" in types and len(types) > 1):
            unlike.append(f"{name!r} is {' and '.join(types)}")
    if unlike:
        raise ExecutionError(
            f"batches that come together have different columns: {'; '.join(unlike)}. A select"
            " before they meet makes them the same, with CAST or AS"
        )


def columns_of_frame(frame: Any) -> Columns:
    """The columns of a DataFrame; evaluates nothing."""
    return {field.name: field.dataType.simpleString() for field in frame.schema.fields}


def columns_of_table(table: pa.Table) -> Columns:
    """The columns of an Arrow table, as Spark would call them."""
    return {field.name: type_name(field.type) for field in table.schema}


def type_name(found: pa.DataType) -> str:
    """The type as Spark's SQL calls it; Arrow's own name if Spark has none."""
    try:
        return str(from_arrow_type(found, prefer_timestamp_ntz=True).simpleString())
    except Exception:
        return str(found)
