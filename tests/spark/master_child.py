"""One flow on one master: ``python -m tests.spark.master_child FOLDER MASTER`` prints its rows.

A process has one session, so every master gets a process of its own.
"""

import json
import sys
from pathlib import Path
from typing import Any

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.runtime.session import start_session
from falkirk.testing.script import Remembered, Script

WORDS = [
    [{"word": "a", "n": 1}, {"word": "b", "n": 2}, {"word": "a", "n": 3}],
    [{"word": "b", "n": 4}, {"word": None, "n": 5}],
    [{"word": "c", "n": 6}, {"word": "a", "n": 7}],
]
FORMS = {"small": Options(), "cached": Options(small_bytes_max=0)}


def halves(inner: Any) -> tuple[Any, Any]:
    """A loop: every number is halved until it is odd."""
    halved = inner.select("start", "n DIV 2 AS n", "rounds + 1 AS rounds")
    return halved.where("n % 2 = 0"), halved.where("n % 2 = 1")


def flow(sinks: dict[str, Remembered]) -> fk.Dataflow:
    """Counts words lazily and eagerly, joins the two, and goes around a loop."""
    made = fk.Dataflow("masters")
    words = made.read(Script(WORDS), name="words")
    counts = words.group_by("word").count(name="counts", policy=fk.lazy(every=2))
    sums = words.group_by("word").agg(total="sum(n)", name="sums", policy=fk.eager())
    counts.join(sums, on="word", name="both").write(sinks["both"], name="both-out")
    sums.write(sinks["sums"], name="sums-out")
    numbers = made.read(Numbers(rows=12, rows_per_epoch=6), name="numbers")
    ready = numbers.where("value > 0 AND value % 2 = 0").select(
        "value AS start", "value AS n", "CAST(0 AS BIGINT) AS rounds"
    )
    ready.iterate(halves, name="halving").write(sinks["halves"], name="halves-out")
    return made


def main(folder: Path, master: str) -> None:
    """Runs the flow in both forms."""
    session = start_session("masters", master)
    try:
        for form, options in FORMS.items():
            sinks = {name: Remembered() for name in ("both", "sums", "halves")}
            run(flow(sinks), folder / form, session, options=options)
            shown = {
                name: [[list(time), sink.times[time]] for time in sorted(sink.times)]
                for name, sink in sinks.items()
            }
            assert not any(sink.repeated for sink in sinks.values())
            print(json.dumps({"form": form, "shown": shown}), flush=True)
    finally:
        session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
