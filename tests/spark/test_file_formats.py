"""Files of every format: what one run writes another reads, however many rows there are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.contracts.json_rows import parsed
from tests.servers.jars import needed

from falkirk.connectors import Files, FileSink
from falkirk.core.errors import PermanentError
from falkirk.dataflow.connecting import UNLIMITED
from falkirk.testing.contracts import Rows, SinkContract
from falkirk.testing.contracts.sinks import all_types, attach, rows_of, table_of
from falkirk.testing.contracts.sources import counted

pytestmark = pytest.mark.spark

WRITTEN: dict[str, dict[str, str]] = {
    "avro": {},
    "csv": {"header": "true", "inferSchema": "true"},
    "json": {},
    "orc": {},
    "parquet": {"compression": "zstd"},
    "xml": {"rowTag": "row"},
}
"""All that Spark reads and writes as tables, with options."""

EXACT = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""JSON as the rows were: microseconds, and nulls that are there."""


class TestJson(SinkContract):
    """A folder of JSON files, which Spark writes."""

    @pytest.fixture
    def session(self, spark: SparkSession) -> Any:
        return spark

    @pytest.fixture
    def make(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: FileSink(tmp_path / "out", "json", EXACT)

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: [
            parsed(json.loads(line, parse_float=str), all_types().schema)
            for file in sorted((tmp_path / "out").glob("epoch=*/*.json"))
            for line in file.read_text().splitlines()
        ]


@pytest.mark.parametrize("format", WRITTEN)
def test_what_is_written_is_read(spark: SparkSession, tmp_path: Path, format: str) -> None:
    wanted(format)
    sink = FileSink(tmp_path / "out", format, WRITTEN[format])
    attach(sink)
    sink.write("out", (0,), Rows(table_of(0, 1), spark))
    sink.write("out", (1,), Rows(table_of(2), spark, small=False))
    source = Files(sink.path / "epoch=0", format, "k BIGINT, v STRING", WRITTEN[format])
    found = source.read(spark, source.initial(), source.latest(source.initial(), UNLIMITED))
    assert counted(found.select("k", "v").toArrow().to_pylist()) == counted(rows_of(0, 1))
    whole = spark.read.format(format).options(**WRITTEN[format]).load(str(sink.path))
    assert sorted(whole.select("epoch", "k", "v").collect()) == [
        (0, 0, "row 0"),
        (0, 1, "row 1"),
        (1, 2, "row 2"),
    ]


def test_text_and_bytes(spark: SparkSession, tmp_path: Path) -> None:
    """Text has one column, without a name; bytes are read and never written."""
    sink = FileSink(tmp_path / "out", "text")
    with pytest.raises(PermanentError, match=r"text files cannot hold these rows.*column"):
        sink.write("out", (0,), Rows(table_of(0), spark))
    sink.write("out", (0,), Rows(table_of(0, 1).select(["v"]), spark))
    for format, column, value in (
        ("text", "value", ["row 0", "row 1"]),
        ("binaryFile", "content", [b"row 0\nrow 1\n"]),
    ):
        source = Files(tmp_path / "out" / "epoch=0", format)
        found = source.read(spark, source.initial(), source.latest(source.initial(), UNLIMITED))
        assert [row[column] for row in found.collect()] == value


@pytest.mark.parametrize("format", ["avro", "orc"])
def test_every_type_of_column(spark: SparkSession, tmp_path: Path, format: str) -> None:
    wanted(format)
    sink = FileSink(tmp_path / "out", format)
    sink.write("out", (0,), Rows(all_types(), spark))
    found = spark.read.format(format).load(str(tmp_path / "out" / "epoch=0")).toArrow()
    assert counted(found.to_pylist()) == counted(all_types().to_pylist())


def wanted(format: str) -> None:
    """Skips a test of a format that Spark does not have here, but never in CI."""
    if format == "avro":
        needed("spark", "Spark's Avro")
