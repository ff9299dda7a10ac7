"""Small files that are read on the driver: the rows that Spark reads, or Spark reads them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import falkirk as fk
from falkirk.connectors import Files
from falkirk.core.errors import ConnectorError
from falkirk.runtime.content import Content
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark

SCHEMA = (
    "b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f FLOAT, d DOUBLE,"
    " m DECIMAL(20, 3), s STRING, x BINARY, day DATE, at TIMESTAMP, wall TIMESTAMP_NTZ"
)
ROWS = """
    SELECT true, 1Y, 2S, 3, 4L, 1.5F, -0.0D, 5.125BD, 'ä', X'00FF', DATE '1969-12-31',
        TIMESTAMP '2024-02-29 12:00:00.123456Z', TIMESTAMP_NTZ '2024-02-29 12:00:00'
    UNION ALL SELECT null, null, null, null, null, null, null, null, null, null, null, null, null
"""


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one file of all types, which Spark wrote."""
    place = tmp_path_factory.mktemp("files")
    names = [part.split()[0] for part in columns(SCHEMA)]
    frame = spark.sql(ROWS).toDF(*names)
    types = dict(part.split(maxsplit=1) for part in columns(SCHEMA))
    frame = frame.selectExpr(*(f"CAST({name} AS {types[name]}) AS {name}" for name in names))
    # Spark's own INT96 is left to Spark.
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    frame.coalesce(1).write.parquet(str(place / "written"))
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    (part,) = (place / "written").glob("*.parquet")
    (place / "in").mkdir()
    part.rename(place / "in" / "all.parquet")
    return place / "in"


def columns(schema: str) -> list[str]:
    found, depth = [""], 0
    for character in schema:
        depth += (character in "(<") - (character in ")>")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [each.strip() for each in found]


def read(spark: SparkSession, source: Files) -> Any:
    return source.read(spark, source.initial(), source.latest(source.initial(), fk.Limit()))


def test_all_types_are_read_as_spark_reads_them(spark: SparkSession, folder: Path) -> None:
    by_spark = read(spark, Files(folder, schema=SCHEMA))
    by_arrow = read(spark, Files(folder, schema=SCHEMA, driver_bytes_max=1 << 20))
    assert isinstance(by_arrow, pa.Table)
    again = Materialiser(spark, None).hand_out(Content(table=by_arrow))
    assert again.dtypes == by_spark.dtypes
    rows = [
        frame.selectExpr("to_json(struct(*))", "hash(s, at, m, x)") for frame in (again, by_spark)
    ]
    assert sorted(rows[0].collect(), key=repr) == sorted(rows[1].collect(), key=repr)


@pytest.mark.parametrize("schema", ["i32 BIGINT", "s STRING", f"{SCHEMA}, more INT"])
def test_what_is_not_exactly_alike_is_left_to_spark(
    spark: SparkSession, folder: Path, schema: str
) -> None:
    assert isinstance(
        read(spark, Files(folder, schema=schema, driver_bytes_max=1 << 20)), DataFrame
    )


def test_what_is_large_or_broken_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing of the kind")
    for bytes_max in (4, 1 << 20):
        source = Files(tmp_path, schema="n INT", driver_bytes_max=bytes_max)
        assert isinstance(read(spark, source), DataFrame)


def test_a_flow_over_small_files(spark: SparkSession, folder: Path) -> None:
    flow, sink = fk.Dataflow("small"), Remembered()
    source = Files(folder, schema=SCHEMA, driver_bytes_max=1 << 20)
    flow.read(source).select("i64 + 1 AS n", "hour(at) AS hour").write(sink)
    run(flow, "memory:", spark, options=Options())
    assert sink.rows() == [{"n": 5, "hour": 12}, {"n": None, "hour": None}]


def test_only_parquet_with_a_schema_can_be_read_so() -> None:
    for wrong in ({"format": "json", "schema": "n INT"}, {}):
        with pytest.raises(ConnectorError, match="driver_bytes_max"):
            Files("anywhere", driver_bytes_max=1, **wrong)  # type: ignore[arg-type]
