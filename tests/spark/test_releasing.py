"""What nobody needs any more is let go: cached blocks on executors, and handles in Python."""

import gc
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.runtime.batch import Batch
from falkirk.runtime.classic import Gateway
from falkirk.runtime.content import Content
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.store.reference import Reference
from falkirk.testing.script import Remembered

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS = 6
ON_EXECUTORS = Options(small_bytes_max=0)
PROBES: list[Callable[[], None]] = []


class Probed(Numbers):
    """Numbers that have something looked at whenever an epoch is read."""

    def read(self, session: Any, start: int, end: int) -> Any:
        """The numbers from ``start`` to ``end``."""
        PROBES[-1]()
        return Numbers.read(self, session, start, end)


class Framed(fk.Processor):
    """Makes a frame of its own, which falkirk cannot see into."""

    stateless = True

    def on_message(self, ctx: Any, port: int, time: Any, batch: Any) -> None:
        """Sends the rows on, as a plan over the batch that came."""
        ctx.send(ctx.batch(batch.frame.selectExpr("value + 1 AS value")))


def counting(epochs: int, sink: Remembered) -> fk.Dataflow:
    """A running count."""
    flow = fk.Dataflow("counting")
    numbers = flow.read(Probed(rows=epochs * ROWS, rows_per_epoch=ROWS), name="numbers")
    numbers.group_by("value % 2 AS k").count(name="counts").write(sink, name="out")
    return flow


def test_cached_blocks_do_not_pile_up(spark: SparkSession, tmp_path: Path) -> None:
    epochs, gateway, sink = 30, Gateway(spark), Remembered()
    before, seen = gateway.persisted(), []
    PROBES.append(lambda: seen.append(gateway.persisted() - before))
    run(counting(epochs, sink), tmp_path, spark, options=ON_EXECUTORS)
    assert sink.times[(epochs - 1,)][0]["count"] == epochs * ROWS // 2
    assert max(seen) > 0, "nothing was on executors"
    assert max(seen) < 40, "an epoch caches several batches, so thirty would have cached a hundred"
    assert max(seen[-5:]) <= max(seen[5:15]) + 16
    assert gateway.persisted() == before


def test_handles_do_not_pile_up(spark: SparkSession, tmp_path: Path) -> None:
    epochs, sink = 80, Remembered()
    seen: dict[type, list[int]] = {Content: [], Batch: [], Reference: []}

    probes = count()

    def probe() -> None:
        if next(probes) % 4 == 0:  # it looks at everything that Python has
            alive = Counter(map(type, gc.get_objects()))
            for kind, counts in seen.items():
                counts.append(alive[kind])

    PROBES.append(probe)
    run(counting(epochs, sink), tmp_path, spark)
    assert sink.times[(epochs - 1,)][0]["count"] == epochs * ROWS // 2
    for kind, counts in seen.items():
        assert len(counts) >= epochs // 4
        assert max(counts[-5:]) <= 2 * max(counts[5:13]) + 10, (kind, counts)


def test_blocks_stay_while_a_plan_of_somebody_else_reads_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    PROBES.append(lambda: None)
    flow, sink = fk.Dataflow("framed"), Remembered()
    numbers = flow.read(Probed(rows=4 * ROWS, rows_per_epoch=ROWS), name="numbers")
    numbers.write(Remembered(), name="beside")  # two ways, so the rows are cached
    framed = numbers.process(Framed(), name="one", policy=fk.ephemeral())
    framed.process(Framed(), name="two", policy=fk.ephemeral()).write(sink, name="out")
    report = run(flow, tmp_path, spark, options=ON_EXECUTORS)
    assert sorted(row["value"] for row in sink.rows()) == list(range(2, 4 * ROWS + 2))
    assert not report.retries
    assert not report.recoveries
