"""Python Data Sources of PySpark, read and written as they are."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    InputPartition,
    SimpleDataSourceStreamReader,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows

import falkirk as fk
from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.runtime.run import run
from falkirk.testing.contracts.sources import Make, SourceContract
from falkirk.testing.script import Remembered

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS = 10


class Span(InputPartition):
    """Numbers from ``low`` to ``high``."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high


class Counting(DataSourceStreamReader):
    """The numbers up to ROWS, in two partitions an epoch; commits go into a file."""

    def __init__(self, options: Any) -> None:
        self.log, self.arrow = Path(options["log"]), options.get("arrow") == "true"

    def initialOffset(self) -> dict[str, int]:
        return {"n": 0}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        assert isinstance(limit, ReadMaxRows | ReadAllAvailable)
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else ROWS
        return {"n": min(start["n"] + most, ROWS)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Span]:
        middle = (start["n"] + end["n"]) // 2
        return [Span(start["n"], middle), Span(middle, end["n"])]

    def read(self, partition: Any) -> Iterator[Any]:
        numbers = list(range(partition.low, partition.high))
        if self.arrow:
            columns = {"square": [n * n for n in numbers], "n": numbers}
            yield pa.RecordBatch.from_pydict(columns)
            return
        yield from ((n, n * n) for n in numbers)

    def commit(self, end: dict[str, int]) -> None:
        with self.log.open("a") as file:
            print(json.dumps(end), file=file)

    def stop(self) -> None:
        with self.log.open("a") as file:
            print("stopped", file=file)


class OldCounting(Counting):
    """The older form: it is not told where to start, nor how much."""

    def latestOffset(self) -> dict[str, int]:  # type: ignore[override]
        return {"n": ROWS}


class SimpleCounting(SimpleDataSourceStreamReader):
    """Three numbers at a time, on the driver."""

    def __init__(self, options: Any) -> None:
        self.log = Path(options["log"])

    def initialOffset(self) -> dict[str, int]:
        return {"n": 0}

    def read(self, start: dict[str, int]) -> tuple[Iterator[Any], dict[str, int]]:
        end = {"n": min(start["n"] + 3, ROWS)}
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[Any]:
        return iter([(n, n * n) for n in range(start["n"], end["n"])])

    def commit(self, end: dict[str, int]) -> None:
        with self.log.open("a") as file:
            print(json.dumps(end), file=file)


class Squares(DataSource):
    """A source with a reader for each test."""

    def schema(self) -> str:
        return "n BIGINT, square BIGINT"

    def streamReader(self, schema: Any) -> Any:
        return Counting(self.options)


class OldSquares(Squares):
    def streamReader(self, schema: Any) -> Any:
        return OldCounting(self.options)


class SimpleSquares(DataSource):
    def schema(self) -> str:
        return "n BIGINT, square BIGINT"

    def simpleStreamReader(self, schema: Any) -> Any:
        return SimpleCounting(self.options)


class Unreadable(DataSource):
    def schema(self) -> str:
        return "n INT"


class Ending(fk.PythonSource):
    """A source that ends with the last number, so that a run does."""

    def finished(self, position: Any) -> bool:
        return bool(position["n"] >= ROWS)


def read_all(
    spark: SparkSession, folder: Path, kind: type, limit: Any = None, **options: str
) -> tuple[Remembered, list[str]]:
    """What comes of a source, and what was written into its log."""
    log, sink, flow = folder / "log", Remembered(), fk.Dataflow("python")
    source = Ending(kind, {"LOG": str(log), **options})
    flow.read(source, name="squares", limit=limit).write(sink, name="out")
    run(flow, folder / "store", spark)
    return sink, log.read_text().splitlines()


@pytest.mark.parametrize(
    ("kind", "limit", "epochs", "options"),
    [
        (Squares, fk.Limit(rows=4), [4, 4, 2], {}),
        (Squares, None, [10], {"arrow": "true"}),
        (OldSquares, fk.Limit(rows=4), [10], {}),
        (SimpleSquares, None, [3, 3, 3, 1], {}),
    ],
    ids=["limit", "arrow", "older", "simple"],
)
def test_a_stream_reader_is_a_source_and_its_commit_the_acknowledgement(
    spark: SparkSession,
    tmp_path: Path,
    kind: type,
    limit: Any,
    epochs: list[int],
    options: dict[str, str],
) -> None:
    sink, log = read_all(spark, tmp_path, kind, limit, **options)
    assert sink.rows() == [{"n": n, "square": n * n} for n in range(ROWS)]
    assert [len(sink.times[time]) for time in sorted(sink.times)] == epochs
    commits = [json.loads(line)["n"] for line in log if line != "stopped"]
    assert commits == sorted(commits)
    assert commits[-1] == ROWS
    assert ("stopped" in log) is (kind is not SimpleSquares)


class StreamedContract(SourceContract):
    """What every source keeps to, kept by one of PySpark's."""

    kind: type = Squares
    ends = False

    @pytest.fixture
    def make(self, tmp_path: Path) -> Make:
        return lambda: fk.PythonSource(self.kind, {"log": str(tmp_path / "log")})

    @pytest.fixture
    def expected(self) -> list[dict[str, Any]]:
        return [{"n": n, "square": n * n} for n in range(ROWS)]

    @pytest.fixture
    def session(self, spark: SparkSession) -> SparkSession:
        return spark


class TestPartitioned(StreamedContract):
    """Partitions that executors read."""

    kind = Squares


class TestSimple(StreamedContract):
    """Rows that the driver reads."""

    kind = SimpleSquares


def test_a_simple_reader_reads_the_same_range_again(spark: SparkSession, tmp_path: Path) -> None:
    first, again = (
        fk.PythonSource(SimpleSquares, {"log": str(tmp_path / "log")}) for _ in range(2)
    )
    start = first.initial()
    end = first.latest(start, fk.Limit())
    rows = first.read(spark, start, end).to_pylist()
    assert len(rows) == 3
    assert again.read(spark, start, end).to_pylist() == rows
    assert first.read(spark, start, end).to_pylist() == rows


def test_what_does_not_stream_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConnectorError, match="neither a streamReader nor a simpleStreamReader"):
        fk.PythonSource(Unreadable).initial()


class Message(WriterCommitMessage):
    """What a partition wrote."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows


class Collecting(DataSourceStreamWriter):
    """Commits rows into a file with the batch's number; some numbers cannot be written."""

    def __init__(self, options: Any) -> None:
        self.log, self.refused = options["log"], int(options.get("refused", "-1"))

    def write(self, iterator: Iterator[Row]) -> Message:
        rows = [row.asDict() for row in iterator]
        if any(row["value"] == self.refused for row in rows):
            raise ValueError(f"{self.refused} cannot be written")
        return Message(rows)

    def commit(self, messages: Any, batchId: int) -> None:
        rows = sorted(row["value"] for message in messages for row in message.rows)
        with Path(self.log).open("a") as file:
            print(json.dumps(["commit", batchId, rows]), file=file)

    def abort(self, messages: Any, batchId: int) -> None:
        with Path(self.log).open("a") as file:
            print(json.dumps(["abort", batchId]), file=file)


class ArrowCollecting(DataSourceStreamArrowWriter):
    """The same with Arrow batches."""

    def __init__(self, options: Any) -> None:
        self.plain = Collecting(options)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Message:
        return Message([row for batch in iterator for row in batch.to_pylist()])

    def commit(self, messages: Any, batchId: int) -> None:
        self.plain.commit(messages, batchId)

    def abort(self, messages: Any, batchId: int) -> None:
        self.plain.abort(messages, batchId)


class Collector(DataSource):
    """A place to write to."""

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:
        return Collecting(self.options)


class ArrowCollector(DataSource):
    def streamWriter(self, schema: Any, overwrite: bool) -> Any:
        return ArrowCollecting(self.options)


def written(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def writing(folder: Path, kind: type, idempotent: bool = False, **options: str) -> fk.Dataflow:
    flow = fk.Dataflow("collecting")
    sink = fk.PythonSink(kind, {"log": str(folder / "log"), **options}, idempotent=idempotent)
    flow.read(fk.Numbers(rows=6, rows_per_epoch=3), name="numbers").write(sink, name="out")
    return flow


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("kind", [Collector, ArrowCollector])
def test_a_stream_writer_is_a_sink(
    spark: SparkSession, tmp_path: Path, kind: type, idempotent: bool
) -> None:
    run(writing(tmp_path, kind, idempotent), tmp_path / "store", spark)
    assert written(tmp_path) == [["commit", 0, [0, 1, 2]], ["commit", 1, [3, 4, 5]]]


def test_what_cannot_be_written_is_aborted(spark: SparkSession, tmp_path: Path) -> None:
    sink = fk.PythonSink(Collector, {"log": str(tmp_path / "log"), "refused": "1"})
    batch = type("Framed", (), {"frame": spark.range(3).withColumnRenamed("id", "value")})
    with pytest.raises(Exception, match="1 cannot be written"):
        sink.write("out", (7,), batch)
    assert written(tmp_path) == [["abort", 7]]


def test_what_takes_no_stream_is_refused(spark: SparkSession) -> None:
    with pytest.raises(PermanentError, match="no streamWriter"):
        fk.PythonSink(Unreadable).write("out", (0,), type("Framed", (), {"frame": spark.range(1)}))


def test_options_may_be_secrets() -> None:
    assert "hunter2" not in repr(fk.PythonSink(Collector, {"password": "hunter2"}))
    assert "hunter2" not in repr(fk.PythonSource(Squares, {"password": "hunter2"}))
