"""The contender falkirk: running counts, exactly once or at least once, until it is killed."""

import argparse
from pathlib import Path
from typing import Any

import falkirk as fk
from benchmarks.inputs.events import CAMPAIGN_SCHEMA
from benchmarks.ysb.showing import show
from benchmarks.ysb.stream import SCHEMA, WINDOW_MS
from falkirk import lindi
from falkirk.connectors import Files, Function
from falkirk.runtime.run import run

EXACTLY, AT_LEAST = "exactly-once", "at-least-once"
EVERY = 10
"""At least once, so many epochs are re-done at most after a failure."""


def views(folder: Path, guarantee: str, attempt: int) -> fk.Dataflow:
    """The flow."""
    flow = fk.Dataflow("ysb")
    # As in Structured Streaming: a line that is no JSON becomes a row of nulls.
    plain = {"mode": "PERMISSIVE"}
    source = Files(
        folder / "in", format="json", schema=SCHEMA, options=plain, order="name", watch=True
    )
    seen = flow.read(source, name="events").where("event_type = 'view'")
    named = lindi.rows(seen.select("ad_id", "event_time")).join_table(
        lambda spark: spark.read.schema(CAMPAIGN_SCHEMA).json(str(folder / "campaigns")), on="ad_id"
    )
    window = f"event_time DIV {WINDOW_MS} * {WINDOW_MS} AS window"
    exactly = guarantee == EXACTLY
    policy = fk.eager() if exactly else fk.lazy(every=EVERY)
    counts = named.stream.group_by("campaign_id", window).count(name="counts", policy=policy)

    def write(time: Any, table: Any) -> None:
        # Who promises nothing does not recognise what the process before has shown.
        name = f"{time[0]:06}.json" if exactly else f"{attempt}-{time[0]:06}.json"
        columns = (table[column].to_pylist() for column in ("campaign_id", "window", "count"))
        show(folder / "out", name, zip(*columns, strict=True))

    counts.write(Function(write, idempotent=exactly), name="out")
    return flow


def main() -> None:
    """Runs until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("guarantee", choices=(EXACTLY, AT_LEAST))
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("folder", type=Path)
    parser.add_argument("attempt", type=int)
    chosen = parser.parse_args()
    flow = views(chosen.folder, chosen.guarantee, chosen.attempt)
    run(flow, chosen.folder / "state", master=chosen.master)


if __name__ == "__main__":
    main()
