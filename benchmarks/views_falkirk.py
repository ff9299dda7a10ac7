"""The contender falkirk: counts the views of campaigns, exactly once, until it is killed."""

import argparse
from pathlib import Path
from threading import Lock

import falkirk as fk
from benchmarks.events import CAMPAIGN_SCHEMA, SCHEMA, WINDOW_SECONDS
from falkirk.connectors import Files, ParquetSink
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.options import Options
from falkirk.runtime.run import run

POLICIES = {"eager": fk.eager(), "lazy": fk.lazy(), "lazy-10": fk.lazy(every=10)}


def views(folder: Path, policy: fk.Policy) -> fk.Dataflow:
    """The flow."""
    flow = fk.Dataflow("views")
    source = Files(folder / "in", schema=SCHEMA, order="name", watch=True, driver_bytes_max=1 << 18)
    events = flow.read(source, name="events", limit=Limit(files=1))
    seen = events.where("event_type = 'view'").select("ad_id", "event_time")
    named = seen.transform(Campaigns(folder / "campaigns"), name="campaigns")
    key = f"unix_seconds(event_time) DIV {WINDOW_SECONDS} * {WINDOW_SECONDS} AS window"
    counts = named.group_by("campaign_id", key).count(name="counts", policy=policy)
    counts.write(ParquetSink(folder / "out"), name="out")
    return flow


class Campaigns:
    """A join with a table that does not change, which Spark reads once and keeps."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self.path, self.table, self.lock = path, None, Lock()

    def __call__(self, frame):
        """The events with their campaigns; called for several epochs at once."""
        from pyspark.sql.functions import broadcast

        with self.lock:
            if self.table is None:
                reader = frame.sparkSession.read.schema(CAMPAIGN_SCHEMA)
                self.table = broadcast(reader.parquet(str(self.path)).cache())
        return frame.join(self.table, on="ad_id")


def main() -> None:
    """Runs until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("policy", choices=POLICIES)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    run(views(chosen.folder, POLICIES[chosen.policy]), chosen.folder / "state", options=Options())


if __name__ == "__main__":
    main()
