"""The contender falkirk: counts the views of campaigns, exactly once, until it is killed."""

import argparse
from pathlib import Path

import falkirk as fk
from benchmarks.inputs.events import SCHEMA, WINDOW_SECONDS, campaigns
from falkirk import lindi
from falkirk.connectors import Files, ParquetSink
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.options import Options
from falkirk.runtime.run import run

POLICIES = {
    "eager": fk.eager(),
    "lazy": fk.lazy(),
    "lazy-10": fk.lazy(every=10),
    "history": fk.history(),
}


def views(folder: Path, policy: fk.Policy) -> fk.Dataflow:
    """The flow."""
    flow = fk.Dataflow("views")
    source = Files(folder / "in", schema=SCHEMA, order="name", watch=True, driver_bytes_max=1 << 18)
    events = flow.read(source, name="events", limit=Limit(files=1))
    counted(named(lindi.rows(events), folder), policy).write(
        ParquetSink(folder / "out"), name="out"
    )
    return flow


def named(events: lindi.Rows, folder: Path, policy: fk.Policy | None = None) -> fk.Stream:
    """The views, with their campaigns."""
    seen = events.where("event_type = 'view'").select("ad_id", "event_time")
    table = seen.join_table(lambda s: campaigns(s, folder), on="ad_id", policy=policy)
    return table.stream


def counted(views: fk.Stream, policy: fk.Policy) -> fk.Stream:
    """How many views each campaign had in each window."""
    key = f"unix_seconds(event_time) DIV {WINDOW_SECONDS} * {WINDOW_SECONDS} AS window"
    return views.group_by("campaign_id", key).count(name="counts", policy=policy)


def main() -> None:
    """Runs until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("policy", choices=POLICIES)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    run(views(chosen.folder, POLICIES[chosen.policy]), chosen.folder / "state", options=Options())


if __name__ == "__main__":
    main()
