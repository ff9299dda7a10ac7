"""Malformed rows leave the flow, each with its file and line, and are neither lost nor doubled."""

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.servers.jars import needed

import falkirk as fk
from falkirk.connectors.unreadable import WHOLE
from falkirk.core.errors import ExecutionError, PermanentError
from falkirk.runtime.aside import set_aside
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCHEMA = "n INT, name STRING"
CSV = {
    "1.csv": "n,name\n1,one\nx,bad\n2,two\n3\nx,bad\n",
    "2.csv": "n,name\n4,four\n",
    "3.csv": "n,name\n5,five,six\n",
}
CSV_LETTERS = [
    {"file": "1.csv", "line": 3, "record": "x,bad"},
    {"file": "1.csv", "line": 5, "record": "3"},
    {"file": "1.csv", "line": 6, "record": "x,bad"},
    {"file": "3.csv", "line": 2, "record": "5,five,six"},
]
JSON = {"1.json": '{"n": 1, "name": "one"}\n{"n": "x"}\n\n{oops\n{"n": 2, "name": "two"}\n'}


def put(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def reading(folder: Path, format: str, sink: Any, **given: Any) -> fk.Dataflow:
    """One file an epoch."""
    flow = fk.Dataflow("reading")
    options = {"header": "true"} if format == "csv" else {}
    source = fk.Files(folder, format, SCHEMA, options, order="name", **given)
    flow.read(source, name="lines", limit=fk.Limit(files=1)).write(sink, name="out")
    return flow


def letters(folder: Path) -> list[dict[str, Any]]:
    return [
        row
        for epoch in sorted(folder.glob("epoch=*"))
        for row in pq.read_table(epoch, partitioning=None).to_pylist()
    ]


@pytest.mark.parametrize("small_bytes_max", [0, 1 << 20], ids=["on executors", "on the driver"])
def test_csv(spark: SparkSession, tmp_path: Path, small_bytes_max: int) -> None:
    sink, dead = Remembered(), tmp_path / "dead"
    flow = reading(put(tmp_path / "in", CSV), "csv", sink, malformed=fk.DeadLetters(dead))
    run(flow, tmp_path / "store", spark, options=fk.Options(small_bytes_max=small_bytes_max))
    assert sink.rows() == [
        {"n": 1, "name": "one"},
        {"n": 2, "name": "two"},
        {"n": 4, "name": "four"},
    ]
    assert letters(dead) == CSV_LETTERS
    assert sorted(each.name for each in dead.glob("epoch=*")) == ["epoch=0", "epoch=2"]


def test_json_and_any_sink(spark: SparkSession, tmp_path: Path) -> None:
    sink, dead = Remembered(), Remembered()
    run(
        reading(put(tmp_path / "in", JSON), "json", sink, malformed=dead),
        tmp_path / "store",
        spark,
    )
    assert sink.rows() == [{"n": 1, "name": "one"}, {"n": 2, "name": "two"}]
    assert dead.rows() == [
        {"file": "1.json", "line": 2, "record": '{"n": "x"}'},
        {"file": "1.json", "line": 4, "record": "{oops"},
    ]


FITTING = {"n": 1, "name": "one"}
XML = "<rows>\n<row><n>1</n><name>one</name></row>\n<row>\n<n>x</n>\n</row>\n</rows>\n"
ARRAY = '[{"n": 1, "name": "one"},\n{"n": "x"}]\n'
OF_SEVERAL_LINES: dict[str, Any] = {
    "csv": (
        {"multiLine": "true"},
        '1,one\nx,"two\nlines"\n',
        [FITTING],
        [{"file": "1", "line": 2, "record": 'x,"two\nlines"'}],
    ),
    "xml": ({"rowTag": "row"}, XML, [FITTING], [{"file": "1", "line": None, "record": XML}]),
    "json": ({"multiLine": "true"}, ARRAY, [], 2 * [{"file": "1", "line": None, "record": ARRAY}]),
}
"""Options, a file, its rows that fit, and the dead letters. Of a row that does not fit Spark gives
the whole file in XML; and in JSON, where it tells no row from another, for all rows."""


@pytest.mark.parametrize("format", OF_SEVERAL_LINES)
def test_records_of_several_lines(spark: SparkSession, tmp_path: Path, format: str) -> None:
    options, content, fitting, letters = OF_SEVERAL_LINES[format]
    sink, dead, flow = Remembered(), Remembered(), fk.Dataflow("several")
    folder = put(tmp_path / "in", {"1": content})
    source = fk.Files(folder, format, SCHEMA, options, malformed=dead)
    flow.read(source, name="lines").write(sink, name="out")
    run(flow, tmp_path / "store", spark)
    assert sink.rows() == fitting
    assert dead.rows() == letters


DAMAGED = {"parquet": slice(4, 40), "orc": slice(3, 100), "avro": slice(-20, -17)}
"""Where rows are in a small file, and not what says where they are."""


@pytest.mark.parametrize("format", WHOLE)
def test_a_file_that_cannot_be_read_is_a_letter_as_a_whole(
    spark: SparkSession, tmp_path: Path, format: str
) -> None:
    if format == "avro":
        needed("spark", "Spark's Avro")
    folder = put(tmp_path / "in", {"1": "no such thing\n", "3": ""})
    rows = spark.createDataFrame([(1, "one"), (2, "two")], SCHEMA).coalesce(1)
    rows.write.format(format).save(str(tmp_path / "written"))
    (written,) = (tmp_path / "written").glob(f"*.{format}")
    (folder / "2").write_bytes(written.read_bytes())
    (folder / "4").write_bytes(written.read_bytes()[:-1])
    damaged = bytearray(written.read_bytes())
    damaged[DAMAGED[format]] = b"\xff" * len(damaged[DAMAGED[format]])
    (folder / "5").write_bytes(damaged)
    sink, dead = Remembered(), Remembered()
    run(reading(folder, format, sink, malformed=dead), tmp_path / "store", spark)
    assert sink.rows() == [{"n": 1, "name": "one"}, {"n": 2, "name": "two"}]
    assert [(row["file"], row["line"]) for row in dead.rows()] == [(n, None) for n in "1345"]
    assert all(f"to its end as {format}" in row["record"] for row in dead.rows())


PACKED = b"1,one\n2,two\n3,three\n"


def put_packed(folder: Path, suffix: str, pack: Callable[[bytes], bytes]) -> Path:
    """Two files that are whole, one that breaks off, and one that is something else."""
    folder.mkdir()
    whole = pack(PACKED)
    for name, content in {"1": whole, "2": whole[:-1], "3": b"no such thing", "4": whole}.items():
        (folder / f"{name}{suffix}").write_bytes(content)
    return folder


def test_a_compressed_file_that_breaks_off_is_a_letter_as_a_whole(
    spark: SparkSession, tmp_path: Path
) -> None:
    """All in one epoch: the others are read."""
    folder = put_packed(tmp_path / "in", ".csv.gz", gzip.compress)
    sink, dead, flow = Remembered(), Remembered(), fk.Dataflow("packed")
    source = fk.Files(folder, "csv", SCHEMA, malformed=dead)
    flow.read(source, name="lines").write(sink, name="out")
    run(flow, tmp_path / "store", spark)
    assert sorted(row["n"] for row in sink.rows()) == [1, 1, 2, 2, 3, 3]
    assert [(row["file"], row["line"]) for row in dead.rows()] == [
        ("2.csv.gz", 4),
        ("3.csv.gz", None),
    ]
    assert all("cannot be unpacked" in row["record"] for row in dead.rows())


def test_a_text_that_breaks_off_goes_to_a_sink_or_stops_the_flow(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of the first Spark would read all rows, and of the second none: and say nothing."""
    folder = put_packed(tmp_path / "in", ".bz2", bz2.compress)
    sink, dead = Remembered(), Remembered()

    def flow(sink: Remembered, **given: Any) -> fk.Dataflow:
        found = fk.Dataflow("texts")
        source = fk.Files(folder, "text", order="name", **given)
        found.read(source, name="lines", limit=fk.Limit(files=1)).write(sink, name="out")
        return found

    run(flow(sink, malformed=dead), tmp_path / "store", spark)
    assert [row["value"] for row in sink.rows()] == 2 * PACKED.decode().splitlines()
    assert [(row["file"], row["line"]) for row in dead.rows()] == [("2.bz2", 4), ("3.bz2", None)]
    with pytest.raises(PermanentError, match=r"2\.bz2: .* in line 4\. Mend it and run again"):
        run(flow(Remembered()), tmp_path / "another", spark)


def test_without_a_sink_they_are_set_aside_in_the_store(
    spark: SparkSession, tmp_path: Path
) -> None:
    flow = reading(put(tmp_path / "in", CSV), "csv", Remembered())
    run(flow, tmp_path / "store", spark)
    found = set_aside(flow, tmp_path / "store")
    assert {each.processor for each in found} == {"lines-malformed"}
    rows = [row for each in found for row in each.rows.to_pylist()]
    assert sorted(rows, key=lambda row: (row["file"], row["line"])) == CSV_LETTERS


def test_asked_to_fail_the_flow_stops(spark: SparkSession, tmp_path: Path) -> None:
    sink = Remembered()
    flow = reading(put(tmp_path / "in", CSV), "csv", sink, malformed="fail")
    with pytest.raises(ExecutionError, match=r"(?is)malformed.*run again on the same store"):
        run(flow, tmp_path / "store", spark)
    assert not sink.rows()


def test_who_decides_for_spark_keeps_that(spark: SparkSession, tmp_path: Path) -> None:
    sink, flow = Remembered(), fk.Dataflow("dropping")
    options = {"header": "true", "mode": "DROPMALFORMED"}
    source = fk.Files(put(tmp_path / "in", CSV), "csv", SCHEMA, options, order="name")
    flow.read(source, name="lines").write(sink, name="out")
    assert list(flow.nodes) == ["lines", "out"]
    run(flow, tmp_path / "store", spark)
    assert [row["n"] for row in sink.rows()] == [1, 2, 4]


def test_an_input_that_fails_and_is_read_again_leaves_no_letter_twice(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The second run goes on with the store of the first, which was stopped by its sink."""
    folder, dead, taken = put(tmp_path / "in", CSV), Remembered(), list[Any]()

    def failing(time: Any, table: Any) -> None:
        if len(taken) == 1:
            taken.append(None)
            raise PermanentError("the sink is full")
        taken.append(table.num_rows)

    flow = reading(folder, "csv", fk.Function(failing, idempotent=True), malformed=dead)
    with pytest.raises(fk.FalkirkError, match="full"):
        run(flow, tmp_path / "store", spark)
    run(flow, tmp_path / "store", spark)
    assert dead.rows() == CSV_LETTERS
    assert [n for n in taken if n is not None] == [2, 1, 0]
