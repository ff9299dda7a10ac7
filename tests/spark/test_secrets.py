"""What connectors are given to come in is in no log, though everything is logged.

Spark's client logs each call to Java with what it is given; functions for executors are in there in
base 64.
"""

import base64
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    InputPartition,
    WriterCommitMessage,
)
from tests.contracts.databases import SECRET, open_outside

import falkirk as fk
from falkirk.connectors.kafka.frames import python_frame
from falkirk.connectors.kafka.offsets import Span
from falkirk.connectors.kafka.settings import settings
from falkirk.testing.contracts import Rows
from falkirk.testing.contracts.sinks import some

pytestmark = [pytest.mark.spark, pytest.mark.slow]

OPTIONS = {"fs.secret.key": SECRET}


class GuardedReader(DataSourceStreamReader):
    """A reader that comes in by a secret, on executors."""

    def __init__(self, options: Any) -> None:
        self.secret = options["fs.secret.key"]

    def partitions(self, start: Any, end: Any) -> list[InputPartition]:
        return [InputPartition(0)]

    def read(self, partition: Any) -> Iterator[Any]:
        yield (len(self.secret),)


class GuardedWriter(DataSourceStreamWriter):
    """A writer that comes in by a secret, on executors."""

    def __init__(self, options: Any) -> None:
        self.secret = options["fs.secret.key"]

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        assert self.secret
        return WriterCommitMessage()

    def commit(self, messages: Any, batchId: int) -> None:
        """Nothing is kept."""


class Guarded(DataSource):
    """Both."""

    def schema(self) -> str:
        return "n INT"

    def streamReader(self, schema: Any) -> Any:
        return GuardedReader(self.options)

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:
        return GuardedWriter(self.options)


def read_files(spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "a.csv").write_text("1\n")
    source = fk.Files(folder / "in", "csv", "n INT", OPTIONS)
    end = source.latest(source.initial(), fk.Limit())
    assert source.read(spark, source.initial(), end).count() == 1


def write_files(spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> None:
    fk.FileSink(folder / "out", "json", options=OPTIONS).write("o", (0,), Rows(TABLE, spark))


def read_table(spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> None:
    outside = open_outside("postgres", folder, request)
    sink = fk.TableSink(outside.url, "t")
    sink.write("o", (0,), some(1, 2, 3))
    sink.close()
    source = fk.TableSource(outside.url, "t", key="k", driver_rows_max=1)
    assert source.read(spark, None, 3).count() == 3
    source.close()


def read_python(spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> None:
    assert fk.PythonSource(Guarded, OPTIONS).read(spark, 0, 1).collect()[0].n == len(SECRET)


def write_python(spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> None:
    fk.PythonSink(Guarded, OPTIONS).write("o", (0,), Rows(TABLE, spark))


def read_kafka(spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> None:
    """There is no broker; what Spark is told to do is enough."""
    given = settings("127.0.0.1:9", {}, {"sasl.password": SECRET})
    python_frame(spark, given, [Span("topic", 0, 0, 1)], False)


TABLE = pa.table({"n": [1, 2]})
DOINGS = (read_files, write_files, read_table, read_python, write_python, read_kafka)


@pytest.mark.parametrize("do", DOINGS, ids=lambda each: each.__name__)
def test_no_log_has_a_secret(
    spark: SparkSession,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
    do: Callable[..., None],
) -> None:
    with caplog.at_level(logging.DEBUG):
        do(spark, tmp_path, request)
    assert "Command to send" in caplog.text, "calls to Java are logged"
    assert SECRET not in caplog.text
    encoded = re.findall(r"[A-Za-z0-9+/]{40,}", caplog.text)
    assert not [text for text in encoded if any(SECRET.encode() in d for d in decoded(text))]


def decoded(text: str) -> Iterator[bytes]:
    """What is in a text in base 64, wherever it begins."""
    for begin in range(4):
        whole = (len(text) - begin) // 4 * 4
        yield base64.b64decode(text[begin : begin + whole])
