"""A Python Data Source that takes streams keeps the contract of a sink."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage

from falkirk.connectors import PythonSink
from falkirk.testing.contracts import SinkContract

pytestmark = pytest.mark.spark


class Sheet(WriterCommitMessage):
    """The rows of a partition."""

    def __init__(self, rows: list[pa.RecordBatch]) -> None:
        self.rows = rows


class Shelving(DataSourceStreamArrowWriter):
    """Puts each batch of an output into a file with its number; what is there stays."""

    def __init__(self, options: Any) -> None:
        self.folder, self.output = options["path"], options["falkirk.output"]

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Sheet:
        return Sheet(list(iterator))

    def commit(self, messages: Any, batchId: int) -> None:
        path = Path(self.folder) / f"{self.output}-{batchId}.parquet"
        found = [batch for message in messages for batch in message.rows]
        if found and not path.exists():
            pq.write_table(pa.Table.from_batches(found), path)

    def abort(self, messages: Any, batchId: int) -> None:
        """Nothing was written before the commit."""


class Shelf(DataSource):
    """A folder of files."""

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:
        return Shelving(self.options)


class TestPythonSink(SinkContract):
    """A writer that knows what it has, by the output and the number of the batch."""

    secrets = ("hush-hush",)

    @pytest.fixture
    def session(self, spark: SparkSession) -> Any:
        return spark

    @pytest.fixture
    def make(self, tmp_path: Path) -> Callable[[], Any]:
        options = {"path": str(tmp_path), "password": "hush-hush"}
        return lambda: PythonSink(Shelf, options, idempotent=True)

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
        return lambda: [
            row
            for file in sorted(tmp_path.glob("*.parquet"))
            for row in pq.ParquetFile(file).read().to_pylist()
        ]
