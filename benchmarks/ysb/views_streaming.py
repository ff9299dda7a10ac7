"""The contender Structured Streaming: running counts, exactly once, until it is killed."""

import argparse
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.inputs.events import CAMPAIGN_SCHEMA
from benchmarks.ysb.showing import show
from benchmarks.ysb.stream import SCHEMA, WINDOW_MS
from falkirk.runtime.session import start_session


def start(spark: SparkSession, folder: Path) -> Any:
    """Starts the query: all files that wait are the next batch, which begins at once."""
    read = spark.read.schema(CAMPAIGN_SCHEMA).json(str(folder / "campaigns"))
    # Rows on the driver are broadcast at every batch without a job, as by lindi's join_table.
    campaigns = spark.createDataFrame(read.toArrow())
    events = spark.readStream.schema(SCHEMA).json(str(folder / "in"))
    seen = events.where("event_type = 'view'").select("ad_id", "event_time")
    window = F.expr(f"event_time DIV {WINDOW_MS} * {WINDOW_MS}").alias("window")
    named = seen.join(F.broadcast(campaigns), on="ad_id")
    counts = named.groupBy("campaign_id", window).count()

    def write(frame: DataFrame, number: int) -> None:
        table = frame.select("campaign_id", "window", "count").toArrow()
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        show(folder / "out", f"{number:06}.json", rows)

    return (
        counts.writeStream.outputMode("update")
        .foreachBatch(write)
        .option("checkpointLocation", str(folder / "state"))
        .start()
    )


def main() -> None:
    """Runs until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("folder", type=Path)
    parser.add_argument("attempt", type=int)
    chosen = parser.parse_args()
    start(start_session("ysb", chosen.master), chosen.folder).awaitTermination()


if __name__ == "__main__":
    main()
