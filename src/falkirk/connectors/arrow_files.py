"""Reading small Parquet files with Arrow, on the driver: the rows that Spark would read, sooner."""

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]


def read_parquet(paths: Sequence[str], schema: str) -> pa.Table | None:
    """All rows of the files, or None where Spark might read something else.

    ``schema`` is Spark's DDL. Only files with exactly these columns, of exactly these types, are
    read here; Spark knows what to do, and what to say, about all others.
    """
    wanted = arrow_schema(schema)
    tables = []
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                if not alike(file.schema_arrow, wanted):
                    return None
                tables.append(file.read().select(wanted.names).cast(wanted))
        except (pa.ArrowException, OSError):
            return None
    return pa.concat_tables(tables)


@lru_cache
def arrow_schema(ddl: str) -> pa.Schema:
    """Spark's DDL as Arrow has it; Spark's parser takes longer than a small file."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    return to_arrow_schema(cast(StructType, StructType.fromDDL(ddl)), timezone="UTC")


def alike(found: pa.Schema, wanted: pa.Schema) -> bool:
    """Whether columns have the same names and types, in any order.

    >>> alike(pa.schema([("a", pa.int32())]), pa.schema([("a", pa.int64())]))
    False
    """
    if sorted(found.names) != sorted(wanted.names):
        return False
    return all(found.field(name).type == wanted.field(name).type for name in wanted.names)
