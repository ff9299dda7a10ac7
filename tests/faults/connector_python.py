"""Python Data Sources of PySpark, and a function, that are killed: files say what they know."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from tests.faults.connector_world import EPOCHS, ROWS, values

import falkirk as fk


class Numbers(DataSourceStreamReader):
    """An epoch of numbers at a time; what is acknowledged is in a file."""

    def __init__(self, options: Any) -> None:
        self.file = Path(options["path"])

    def initialOffset(self) -> dict[str, int]:
        return {"epoch": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
        return {"epoch": min(start["epoch"] + 1, EPOCHS)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [InputPartition(epoch) for epoch in range(start["epoch"], end["epoch"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        yield from ((value,) for value in values(partition.value))

    def commit(self, end: dict[str, int]) -> None:
        put(self.file, str(end["epoch"]).encode())


class Ledger(DataSource):
    """The numbers, and a file that says how many epochs are acknowledged."""

    def schema(self) -> str:
        return "value BIGINT"

    def streamReader(self, schema: Any) -> Any:
        return Numbers(self.options)


class NumbersOfPython(fk.PythonSource):
    """A stream that ends."""

    def finished(self, position: Any) -> bool:
        """After the last epoch."""
        return bool(position["epoch"] >= EPOCHS)


def unacknowledged(file: Path) -> list[int]:
    """The numbers of the epochs that were not acknowledged."""
    done = int(file.read_text()) if file.exists() else 0
    return list(range(done * ROWS, EPOCHS * ROWS))


class Sheet(WriterCommitMessage):
    """The rows of a partition."""

    def __init__(self, rows: list[pa.RecordBatch]) -> None:
        self.rows = rows


class Shelving(DataSourceStreamArrowWriter):
    """Adds the rows of a batch to one file, with the number of the batch, once."""

    def __init__(self, options: Any) -> None:
        self.file = Path(options["path"])

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Sheet:
        return Sheet(list(iterator))

    def commit(self, messages: Any, batchId: int) -> None:
        rows = [batch for message in messages for batch in message.rows]
        if rows:
            add(self.file, batchId, pa.Table.from_batches(rows))

    def abort(self, messages: Any, batchId: int) -> None:
        """Nothing was written before the commit."""


class Shelf(DataSource):
    """A file of rows."""

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:
        return Shelving(self.options)


def adding(file: Path) -> Callable[[Any, pa.Table], None]:
    """A function that adds the rows of each time to one file, once."""
    return lambda time, table: add(file, time[0], table)


def add(file: Path, number: int, table: pa.Table) -> None:
    """Adds rows with the number of their batch, unless that batch is there."""
    held = pq.ParquetFile(file).read() if file.exists() else None
    if held is not None and number in held["batch"].to_pylist():
        return
    table = table.append_column("batch", pa.array([number] * len(table), pa.int64()))
    whole = table if held is None else pa.concat_tables([held, table])
    out = pa.BufferOutputStream()
    pq.write_table(whole, out)
    put(file, out.getvalue())


def put(file: Path, content: Any) -> None:
    """Puts a file there as a whole."""
    beside = file.with_suffix(".new")
    beside.write_bytes(content)
    os.replace(beside, file)
