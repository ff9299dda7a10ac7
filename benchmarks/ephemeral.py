"""What an ephemeral pipeline costs over the same plan written directly in PySpark."""

import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

import falkirk as fk
from benchmarks import events
from benchmarks.events import SCHEMA, Shape
from benchmarks.report import Report, Table
from benchmarks.spread import median, spread, verdict
from benchmarks.versions import spark_machine
from falkirk.connectors import Files
from falkirk.runtime.run import run as run_flow
from falkirk.runtime.session import start_session

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


class BySpark:
    """A sink that has Spark write the rows of a time; at least once, so that nothing is staged."""

    exactly_once = False

    def __init__(self, path: Path) -> None:
        """Writes folders into ``path``."""
        self.path = path

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Writes one time."""
        batch.frame.write.mode("overwrite").parquet(str(self.path / f"epoch={time[0]}"))


def falkirk(session: Any, source: Path, target: Path) -> None:
    """The pipeline as a flow."""
    flow = fk.Dataflow("ephemeral")
    stream = flow.read(Files(source, schema=SCHEMA, order="name"))
    for step in STEPS:
        stream = stream.select(*columns(step))
    stream.write(BySpark(target / "out"))
    run_flow(flow, target / "state", session)


def directly(session: Any, source: Path, target: Path) -> None:
    """The pipeline as a PySpark user writes it."""
    frame = session.read.schema(SCHEMA).parquet(str(source))
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


CONTENDERS = {"PySpark": directly, "falkirk": falkirk}


def run(quick: bool) -> Report:
    """Runs both in turn, in one warm session."""
    files, each, repetitions = (2, 1_000, 1) if quick else (16, 250_000, 9)
    settings = {**spark_machine(), **described(files * each, files, repetitions)}
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    session = start_session("ephemeral")
    found: dict[str, list[float]] = defaultdict(list)
    try:
        events.make(place / "in", Shape(each), files)
        for repetition in range(repetitions + 1):
            names = list(CONTENDERS)
            for name in names[::-1] if repetition % 2 else names:
                target = Path(tempfile.mkdtemp(dir=place))
                begun = time.monotonic()
                CONTENDERS[name](session, place / "in", target)
                seconds = time.monotonic() - begun
                check(target / "out", files * each)
                shutil.rmtree(target)
                if repetition:  # the first one warms up
                    found[name].append(seconds)
    finally:
        session.stop()
        shutil.rmtree(place, ignore_errors=True)
    report = Report("Ephemeral: ten fused steps, and the same plan in PySpark", settings)
    report.targets, report.tables = targets(found), [times(found, files * each)]
    return report


def check(folder: Path, rows: int) -> None:
    """Sees that all rows are there."""
    found = ds.dataset(folder, partitioning="hive").count_rows()
    if found != rows:
        raise RuntimeError(f"{found:,} rows were written instead of {rows:,}")


def described(rows: int, files: int, repetitions: int) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": f"{rows:,} rows in {files} Parquet files, ten selections, Spark writes Parquet",
        "the flow": "one epoch; ephemeral steps and a sink that stages nothing (at least once);"
        " the whole of fk.run is in the time: opening the store, saving the input's position",
        "time": f"one session, warm; {repetitions} times each, in turn",
        "command": "python -m benchmarks ephemeral",
    }


def targets(found: dict[str, list[float]]) -> Table:
    """The floor."""
    ratio = median(found["falkirk"]) / median(found["PySpark"])
    pairs = [a / b for a, b in zip(found["falkirk"], found["PySpark"], strict=True)]
    measured = f"{ratio:.3f}× (middle of the pairs: {median(pairs):.3f}×)"
    table = Table("Targets", ["target", "measured", "met"])
    table.rows.append(["at most 1.05× of PySpark", measured, verdict(ratio <= 1.05)])
    return table


def times(found: dict[str, list[float]], rows: int) -> Table:
    """Seconds and rows a second."""
    table = Table("From files to files", ["contender", "seconds", "rows/s"])
    for name in CONTENDERS:
        seconds = found[name]
        rates = [rows / each for each in seconds]
        row = [name, spread(seconds, "{:.2f}".format), spread(rates, "{:,.0f}".format)]
        table.rows.append(row)
    return table
