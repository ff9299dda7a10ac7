"""Batches as the content of Parquet files, and back.

Arrow is loaded when it is needed: who only looks at metadata starts faster without it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from falkirk.core.errors import StoreError


def encoded(table: Any) -> Any:
    """A batch as the content of a Parquet file."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

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


def in_one(tables: Sequence[Any]) -> Any:
    """Batches of the same columns, one after the other."""
    import pyarrow as pa

    return pa.concat_tables(tables)


class NotParquetError(Exception):
    """A file that Arrow cannot read."""


BROKEN = (OSError, NotParquetError)
"""What is raised for a file that is not what it should be."""


def decoded(source: Any) -> Any:
    """The batch in a Parquet file, open or not, or in its content; columns may share a name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with (
        _told(),
        pq.ParquetFile(pa.BufferReader(source) if isinstance(source, bytes) else source) as file,
    ):
        return file.read()


def united(sources: Iterable[Any]) -> Any:
    """The batch in several Parquet files."""
    import pyarrow as pa

    with _told():
        return pa.concat_tables([decoded(source) for source in sources], promote_options="default")


def row_count(sources: Iterable[Any]) -> int:
    """How many rows there are in Parquet files."""
    import pyarrow.parquet as pq

    with _told():
        return sum(pq.read_metadata(source).num_rows for source in sources)


@contextmanager
def _told() -> Iterator[None]:
    """Turns Arrow's complaints into one of ours."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise NotParquetError(str(error)) from error
