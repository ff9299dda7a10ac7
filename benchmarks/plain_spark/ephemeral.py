"""What an ephemeral pipeline costs over the same plan written directly in PySpark."""

from pathlib import Path
from typing import Any

import falkirk as fk
from benchmarks.harness.report import Report
from benchmarks.inputs import events
from benchmarks.inputs.events import SCHEMA, Shape
from benchmarks.plain_spark.side_by_side import TURNS, BySpark, compare
from falkirk.connectors import Files
from falkirk.runtime.run import run as run_flow

STEPS = (
    "*, hash(user_id) AS user",
    "*, hash(page_id) AS page",
    "*, substring(ip_address, 6) AS host",
    "*, unix_seconds(event_time) AS second",
    "*, second DIV 10 * 10 AS window",
    "*, concat(ad_type, '/', event_type) AS kind",
    "*, upper(ad_id) AS ad",
    "*, pmod(user, 64) AS shard",
    "*, sqrt(abs(user * 1.0) + abs(page)) AS score",
    "shard, window, kind, ad, host, second, score",
)
"""Ten selections."""


def falkirk(session: Any, place: Path, target: Path) -> None:
    """The pipeline as a flow."""
    flow = fk.Dataflow("ephemeral")
    stream = flow.read(Files(place / "in", schema=SCHEMA, order="name"))
    for step in STEPS:
        stream = stream.select(*columns(step))
    stream.write(BySpark(target / "out"))
    run_flow(flow, target / "state", session)


def directly(session: Any, place: Path, target: Path) -> None:
    """The pipeline as a PySpark user writes it."""
    frame = session.read.schema(SCHEMA).parquet(str(place / "in"))
    for step in STEPS:
        frame = frame.selectExpr(*columns(step))
    frame.write.mode("overwrite").parquet(str(target / "out" / "epoch=0"))


def columns(step: str) -> list[str]:
    """The expressions of a step; a comma inside brackets does not part them."""
    found, depth = [""], 0
    for character in step:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [expression.strip() for expression in found]


def run(quick: bool) -> Report:
    """Runs both in turn."""
    files, each, repetitions = (2, 1_000, 1) if quick else (16, 250_000, TURNS)

    def prepare(place: Path) -> tuple[int, int]:
        events.make(place / "in", Shape(each), files)
        return files * each, files * each

    return compare(
        "Ephemeral: ten fused steps, and the same plan in PySpark",
        f"{files * each:,} rows in {files} Parquet files, ten selections, Spark writes Parquet",
        prepare,
        {"PySpark": directly, "falkirk": falkirk},
        repetitions,
    )
