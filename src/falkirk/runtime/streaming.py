"""Rows that are too many for the driver, brought to it piece by piece."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.pandas.types import to_arrow_schema


def streamed(frame: Any) -> Iterator[pa.RecordBatch]:
    """The rows of a frame as Arrow batches; the driver holds those of one partition at a time.

    Partitions are fetched one after the other, so the frame must not give other rows when it is
    evaluated again.
    """
    schema = to_arrow_schema(frame.schema, timezone="UTC")
    packed = frame.mapInArrow(packing(), "piece binary")
    found = False
    for row in packed.toLocalIterator(prefetchPartitions=False):
        with pa.ipc.open_stream(row.piece) as reader:
            for batch in reader:
                found = True
                yield cast(batch, schema)
    if not found:
        yield empty_batch(schema)


def packing() -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What makes each Arrow batch one row with its bytes.

    It is shipped by value, so that executors need nothing of falkirk.
    """

    def pack(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]

        for batch in batches:
            if batch.num_rows:
                written = pa.BufferOutputStream()
                with pa.ipc.new_stream(written, batch.schema) as stream:
                    stream.write_batch(batch)
                piece = pa.array([written.getvalue().to_pybytes()], pa.binary())
                yield pa.RecordBatch.from_arrays([piece], ["piece"])

    return pack


def cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with exactly the types of ``schema``: moments are in UTC whatever the session has."""
    (found,) = pa.Table.from_batches([batch]).cast(schema).to_batches() or [empty_batch(schema)]
    return found


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """Columns without rows.

    >>> empty_batch(pa.schema([("n", pa.int64())])).num_rows
    0
    """
    return pa.RecordBatch.from_pylist([], schema)
