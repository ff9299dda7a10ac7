"""The contracts of connectors, where Spark has a part in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.contracts.databases import Outside, outside
from tests.contracts.sinks.test_files import read_epochs

from falkirk.connectors import Files, Numbers, ParquetSink, TableSink, TableSource
from falkirk.dataflow import Limit
from falkirk.runtime.streaming import streamed
from falkirk.testing.contracts import Rows, SinkContract, SourceContract
from falkirk.testing.contracts.sinks import all_types
from falkirk.testing.contracts.sources import counted

pytestmark = pytest.mark.spark

__all__ = ["outside"]

ROWS = [{"n": n, "text": f"row {n}"} for n in range(8)]


class OnSpark(SourceContract):
    """A source that reads with Spark."""

    @pytest.fixture
    def session(self, spark: SparkSession) -> Any:
        return spark


class TestFiles(OnSpark):
    """Two rows a file."""

    limit, rows_max = Limit(files=1), 2
    options: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def make(self, tmp_path: Path) -> Callable[[], Any]:
        for number in range(4):
            write(tmp_path / f"{number}.parquet", ROWS[2 * number : 2 * number + 2])
        schema = "n BIGINT, text STRING"
        return lambda: Files(tmp_path, schema=schema, order="name", **self.options)

    @pytest.fixture
    def expected(self) -> list[dict[str, Any]]:
        return ROWS

    @pytest.fixture
    def more(self, tmp_path: Path) -> Callable[[], Any]:
        def add() -> list[dict[str, Any]]:
            added = [{"n": 10, "text": "late"}]
            write(tmp_path / "9.parquet", added)
            return added

        return add


class TestFilesOnTheDriver(TestFiles):
    """The same, read by Arrow."""

    options: ClassVar[dict[str, Any]] = {"driver_bytes_max": 1_000_000}


class TestNumbers(OnSpark):
    """Numbers, one after the other."""

    @pytest.fixture
    def make(self) -> Callable[[], Any]:
        return lambda: Numbers(rows=10, rows_per_epoch=4)

    @pytest.fixture
    def expected(self) -> list[dict[str, Any]]:
        return [{"value": value} for value in range(10)]


class TestParquet(SinkContract):
    """A folder of Parquet files, also by Spark."""

    @pytest.fixture
    def session(self, spark: SparkSession) -> Any:
        return spark

    @pytest.fixture
    def make(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: ParquetSink(tmp_path / "out")

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: read_epochs(tmp_path / "out")


@pytest.mark.parametrize("partitions", [1, 3])
def test_many_rows_come_piece_by_piece(spark: SparkSession, partitions: int) -> None:
    frame = spark.range(0, 25_000, 1, partitions).selectExpr("id", "id % 7 AS k")
    pieces = list(streamed(frame))
    assert len(pieces) >= 3
    assert pa.Table.from_batches(pieces).sort_by("id") == frame.toArrow().sort_by("id")


def test_a_frame_without_rows_has_its_columns(spark: SparkSession) -> None:
    (piece,) = streamed(spark.range(0))
    assert (piece.num_rows, piece.schema.names) == (0, ["id"])


def test_pieces_have_all_types(spark: SparkSession) -> None:
    written = all_types()
    pieces = streamed(Rows(written, spark).frame)
    found = pa.Table.from_batches(pieces)
    assert counted(found.to_pylist()) == counted(written.to_pylist())
    assert found.schema.types == written.schema.types


def test_tasks_read_what_the_driver_would(spark: SparkSession, outside: Outside) -> None:
    sink = TableSink(outside.url, "t")
    sink.write("o", (0,), Rows(spark.range(5_000).selectExpr("id", "id * 2 AS v").toArrow()))
    sink.close()
    source = TableSource(outside.url, "t", driver_rows_max=300, settle_seconds=0)
    end = source.latest(10, Limit())
    frame = source.read(spark, 10, end)
    assert frame.rdd.getNumPartitions() > 1
    assert sorted(row.id for row in frame.collect()) == list(range(11, 5_000))
    plan = frame._jdf.queryExecution().toString()
    assert "outside" not in plan
    source.close()


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """A file that appears whole."""
    hidden = path.with_name(f".{path.name}")
    pq.write_table(pa.Table.from_pylist(rows), hidden)
    hidden.rename(path)
