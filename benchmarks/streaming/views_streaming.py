"""The contender Structured Streaming: counts the views of campaigns, exactly once, until killed.

Each micro-batch is written under its number, into a hidden folder that is forced to the disk and
then renamed, and dropped if that number is there: so a batch that runs again changes nothing. That
is what :class:`falkirk.connectors.ParquetSink` does.
"""

import argparse
import os
import shutil
import time
from pathlib import Path

import pyarrow.parquet as pq
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.inputs.events import SCHEMA, WINDOW_SECONDS, campaigns

FALKIRK, PLAIN = "falkirk", "plain"


def session(kind: str, java_options: str) -> SparkSession:
    """A session with falkirk's settings and flags, or as a user would start one here."""
    if kind == FALKIRK:
        from falkirk.runtime.session import start_session

        return start_session("views")
    cores = str(os.cpu_count() or 2)
    return (
        SparkSession.builder.appName("views")
        .master("local[*]")
        .config("spark.sql.shuffle.partitions", cores)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", java_options)
        .getOrCreate()
    )


def start(spark: SparkSession, folder: Path, by_arrow: bool):
    """Starts the query."""
    # Rows on the driver are broadcast at every batch without a job, as by lindi's join_table.
    table = spark.createDataFrame(campaigns(spark, folder).toArrow())
    events = (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "in"))
        .where("event_type = 'view'")
        .select("ad_id", "event_time")
    )
    window = F.expr(f"unix_seconds(event_time) DIV {WINDOW_SECONDS} * {WINDOW_SECONDS}")
    counts = (
        events.join(F.broadcast(table), on="ad_id")
        .groupBy("campaign_id", window.alias("window"))
        .count()
    )

    def write(frame: DataFrame, number: int) -> None:
        place, hidden = folder / "out" / f"epoch={number}", folder / "out" / f".epoch-{number}"
        shutil.rmtree(hidden, ignore_errors=True)
        if by_arrow:
            hidden.mkdir()
            pq.write_table(frame.toArrow(), hidden / "part-0.parquet")
        else:
            frame.write.parquet(str(hidden))
        for path in [*hidden.iterdir(), hidden]:
            flush(path)
        if place.exists():  # Spark insists that a batch is evaluated, even for the second time
            shutil.rmtree(hidden)
        else:
            hidden.rename(place)
            flush(place.parent)

    return (
        counts.writeStream.outputMode("update")
        .foreachBatch(write)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )


def flush(path: Path) -> None:
    """Waits until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def end(spark: SparkSession, query) -> None:
    """Stops in peace: a JVM that makes an archive does so at its end."""
    query.stop()
    gateway = SparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def main() -> None:
    """Runs until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--session", choices=(FALKIRK, PLAIN), default=FALKIRK)
    parser.add_argument("--java-options", default="", help="for the JVM of a plain session")
    parser.add_argument("--arrow", action="store_true", help="write from the driver, by Arrow")
    parser.add_argument("--batches", type=int, help="end after so many, and wait for the JVM")
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    spark = session(chosen.session, chosen.java_options)
    query = start(spark, chosen.folder, chosen.arrow)
    if chosen.batches is None:
        query.awaitTermination()
    while not (chosen.folder / "out" / f"epoch={chosen.batches - 1}").exists():
        time.sleep(0.1)
    end(spark, query)


if __name__ == "__main__":
    main()
