"""What a pipeline of lindi's operators costs over the same plan written directly in PySpark."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import falkirk as fk
from benchmarks.harness.report import Report
from benchmarks.inputs import events
from benchmarks.inputs.events import SCHEMA, WINDOW_SECONDS, Shape, campaigns
from benchmarks.plain_spark.side_by_side import TURNS, BySpark, compare
from falkirk import lindi
from falkirk.connectors import Files
from falkirk.runtime.run import run as run_flow

KINDS = "event_type IN ('view', 'click')"
WINDOW = f"unix_seconds(event_time) DIV {WINDOW_SECONDS} * {WINDOW_SECONDS} AS window"
SEEN = ("ad_id", "user_id", WINDOW)
RESULT = ("campaign_id", "window", "user_id")


def falkirk(session: Any, place: Path, target: Path) -> None:
    """The pipeline as a flow."""
    flow = fk.Dataflow("stateless")
    rows = lindi.rows(flow.read(Files(place / "in", schema=SCHEMA, order="name")))
    seen = rows.where(KINDS).select(*SEEN)
    known = seen.join_table(lambda session: campaigns(session, place), on="ad_id")
    known.select(*RESULT).distinct().write(BySpark(target / "out"))
    run_flow(flow, target / "state", session)


def directly(session: Any, place: Path, target: Path) -> None:
    """The pipeline as a PySpark user writes it."""
    frame = session.read.schema(SCHEMA).parquet(str(place / "in"))
    seen = frame.where(KINDS).selectExpr(*SEEN)
    known = seen.join(campaigns(session, place), on="ad_id")
    found = known.selectExpr(*RESULT).distinct()
    found.write.mode("overwrite").parquet(str(target / "out" / "epoch=0"))


def run(quick: bool) -> Report:
    """Runs both in turn."""
    files, each, repetitions = (2, 1_000, 1) if quick else (16, 250_000, TURNS)

    def prepare(place: Path) -> tuple[int, int]:
        events.make(place / "in", Shape(each), files)
        table = events.make_campaigns(place / "campaigns")
        return files * each, expected(place / "in", table)

    return compare(
        "Stateless: lindi's operators, and the same plan in PySpark",
        f"{files * each:,} rows in {files} Parquet files: where, select, a join with a table of"
        f" {len(events.POOLS['ad_id']):,} rows, select, distinct; Spark writes Parquet",
        prepare,
        {"PySpark": directly, "falkirk": falkirk},
        repetitions,
    )


def expected(source: Path, table: Path) -> int:
    """How many rows there are in the end, found with Arrow."""
    read = ds.dataset(source).to_table(columns=["ad_id", "user_id", "event_type", "event_time"])
    read = read.filter(pc.is_in(read["event_type"], pa.array(["view", "click"])))
    micros = read["event_time"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    read = read.append_column("window", pc.divide(micros, WINDOW_SECONDS * 1_000_000))
    known = read.join(pq.read_table(table / "all.parquet"), "ad_id", join_type="inner")
    return int(known.group_by(["campaign_id", "window", "user_id"]).aggregate([]).num_rows)
