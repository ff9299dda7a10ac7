"""The contender Flink: running counts, exactly once or at least once, until it is killed.

It is SQL but for the join, a Python function over Pandas series in processes of their own. Exactly
once its own FileSink shows results, with a checkpoint. At least once another such function shows
them at once; Flink's users have that before a sink that swallows all.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyflink.common import Configuration, Encoder
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink, RollingPolicy
from pyflink.java_gateway import get_gateway
from pyflink.table import StreamTableEnvironment, Table
from pyflink.table.udf import ScalarFunction, udf

from benchmarks.ysb.peers.flink_cluster import start_cluster
from benchmarks.ysb.showing import campaigns_of, show

WINDOW_MS = 10_000
EXACTLY, AT_LEAST = "exactly-once", "at-least-once"
CHECKPOINT = {EXACTLY: "200 ms", AT_LEAST: "1 s"}
"""Results wait for it exactly once; at least once so much is re-done at most after a failure."""

LOOK = "10 ms"


def settings(folder: Path, guarantee: str, cluster: dict[str, str]) -> Configuration:
    """On ``cluster`` or in this process, from the last checkpoint that was completed, if any."""
    settings = Configuration()
    for key, value in {
        "parallelism.default": str(os.cpu_count() or 2),
        "execution.checkpointing.interval": CHECKPOINT[guarantee],
        "execution.checkpointing.mode": "EXACTLY_ONCE",
        "execution.checkpointing.storage": "filesystem",
        "execution.checkpointing.dir": (folder / "state").as_uri(),
        "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "20 ms",
        "table.exec.mini-batch.size": "5000",
        "python.fn-execution.bundle.time": "20",
        "python.executable": sys.executable,
        "rest.bind-address": "127.0.0.1",
        "rest.port": "0",
        **cluster,
    }.items():
        settings.set_string(key, value)
    complete = sorted((folder / "state").glob("*/chk-*/_metadata"), key=os.path.getmtime)
    if complete:
        settings.set_string("execution.state-recovery.path", complete[-1].parent.as_uri())
    return settings


def environment_of(settings: Configuration, remote: bool) -> StreamExecutionEnvironment:
    """Where the job runs. Flink's own factory takes every script for a cluster of its own."""
    if not remote:
        return StreamExecutionEnvironment.get_execution_environment(settings)
    java = get_gateway().jvm.org.apache.flink.streaming.api.environment
    return StreamExecutionEnvironment(java.StreamExecutionEnvironment(settings._j_configuration))


class Campaigns(ScalarFunction):
    """The join: Flink joins a stream with a table of files by keeping the whole stream, and looks
    rows up in databases only, so its users look them up in a function of their own."""

    def __init__(self, folder: Path) -> None:
        """Nothing is read yet."""
        self.folder, self.campaigns = folder, dict[str, str]()

    def open(self, function_context: Any) -> None:
        """Reads the campaigns, once for each subtask."""
        self.campaigns = campaigns_of(self.folder)

    def eval(self, ads: Any) -> Any:
        """The campaigns of advertisements, which come as a Pandas series."""
        return ads.map(self.campaigns)


class Showing(ScalarFunction):
    """What shows results at least once: those that Flink hands over together make a file."""

    def __init__(self, folder: Path) -> None:
        """Shows in the folder that all contenders are given."""
        self.folder = folder / "out"

    def eval(self, campaigns: Any, windows: Any, totals: Any) -> Any:
        """Shows three Pandas series, and returns one of them."""
        rows = zip(campaigns, windows.tolist(), totals.tolist(), strict=True)
        show(self.folder, f"{uuid4().hex}.json", rows)
        return totals


def show_exactly_once(tables: StreamTableEnvironment, counts: Table, folder: Path) -> None:
    """Results go to files that are shown when a checkpoint is complete."""
    sink = (
        FileSink.for_row_format(str(folder / "out"), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .build()
    )
    tables.to_changelog_stream(counts).sink_to(sink).uid("out")


def show_at_once(tables: StreamTableEnvironment, counts: Table, folder: Path) -> None:
    """Results go to files as they come."""
    function = udf(Showing(folder), result_type="BIGINT", func_type="pandas")
    tables.create_temporary_function("show_counts", function)
    tables.create_temporary_view("counts", counts)
    tables.execute_sql("CREATE TABLE nowhere (shown BIGINT) WITH ('connector' = 'blackhole')")
    adding = tables.create_statement_set()
    adding.add_insert_sql(
        "INSERT INTO nowhere SELECT show_counts(campaign_id, window_begin, total) FROM counts"
    )
    adding.attach_as_datastream()


def main() -> None:
    """Runs until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("guarantee", choices=(EXACTLY, AT_LEAST))
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("folder", type=Path)
    parser.add_argument("attempt", type=int)
    chosen = parser.parse_args()
    folder = chosen.folder
    cluster = start_cluster(folder / "cluster") if chosen.cluster else {}
    environment = environment_of(settings(folder, chosen.guarantee, cluster), bool(cluster))
    tables = StreamTableEnvironment.create(environment)
    tables.execute_sql(
        "CREATE TABLE events (user_id STRING, page_id STRING, ad_id STRING, ad_type STRING,"
        " event_type STRING, event_time BIGINT, ip_address STRING) WITH ("
        f" 'connector' = 'filesystem', 'path' = '{(folder / 'in').as_uri()}', 'format' = 'json',"
        f" 'source.monitor-interval' = '{LOOK}')"
    )
    tables.create_temporary_function(
        "campaign_of", udf(Campaigns(folder), result_type="STRING", func_type="pandas")
    )
    counts = tables.sql_query(
        "SELECT campaign_id, window_begin, COUNT(*) AS total FROM ("
        " SELECT campaign_of(ad_id) AS campaign_id,"
        f" event_time / {WINDOW_MS} * {WINDOW_MS} AS window_begin"
        " FROM events WHERE event_type = 'view') GROUP BY campaign_id, window_begin"
    )
    showing = show_exactly_once if chosen.guarantee == EXACTLY else show_at_once
    showing(tables, counts, folder)
    environment.execute("ysb")


if __name__ == "__main__":
    main()
