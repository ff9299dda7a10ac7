"""Batches as the content of Parquet files, and back."""

from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from falkirk.core.errors import StoreError


def encoded(table: pa.Table) -> Any:
    """A batch as the content of a Parquet file."""
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(table, sink)
    except pa.ArrowException as error:
        raise StoreError(
            f"a batch cannot be stored as Parquet: {error}; its columns are {table.schema.names}"
        ) from error
    if table.num_rows and not table.num_columns:
        raise StoreError(f"a batch of {table.num_rows} rows without columns cannot be stored")
    return sink.getvalue()


def decoded(source: Any) -> pa.Table:
    """The batch in a Parquet file; two columns may have one name."""
    with pq.ParquetFile(source) as file:
        return file.read()
