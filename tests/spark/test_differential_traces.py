"""Traces stay short: their runs are merged as they grow, and large ones are left alone."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.core.machine.events import Compacted
from falkirk.dataflow.description import describe
from falkirk.differential import collection
from falkirk.runtime.compaction import RUNS_MIN
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared
from falkirk.store import open_store
from falkirk.testing.script import Remembered, Script

pytestmark = pytest.mark.spark

EPOCHS, LARGE = 3 * RUNS_MIN, 1_000


def numbers() -> Script:
    """Many numbers, and then at each epoch one that comes and one that goes."""
    begin = [{"n": n, "change": 1} for n in range(LARGE)]
    changes = [[{"n": LARGE + n, "change": 1}, {"n": n, "change": -1}] for n in range(1, EPOCHS)]
    return Script([begin, *changes], pa.schema([("n", pa.int64()), ("change", pa.int64())]))


def test_traces_are_merged_and_never_rewritten_as_a_whole(spark: SparkSession) -> None:
    flow, merges = fk.Dataflow("traces"), list[Compacted]()
    once = collection(flow.read(numbers(), name="numbers"), "change").distinct(name="outside")
    looped = once.iterate(lambda inner: inner.distinct(name="inside"))
    looped.changes().write(Remembered(), name="out")
    blueprint, store = flow.build(), open_store("memory:")
    with held(store):
        store.adopt(describe(blueprint))
        driver = prepared(blueprint, store, spark, Options(epochs_ahead=1))
        step = driver.step

        def noted(event: Any) -> None:
            if isinstance(event, Compacted):
                merges.append(event)
            step(event)

        driver.step = noted  # type: ignore[method-assign]
        driver.run()
    store.close()
    runs: Counter[Any] = Counter()
    for p, ledger in driver.machine.state.ledgers.items():
        if p in ("inside", "outside"):
            runs.update((p, batch.label, time[1:]) for time, batch in ledger.base.state)
    assert {p for p, _, _ in runs} == {"inside", "outside"}
    assert max(runs.values()) < 2 * RUNS_MIN, runs
    assert {event.processor for event in merges} == {"inside", "outside"}
    assert all(batch.content.rows < LARGE for event in merges for _, batch in event.taken), (
        "what is much larger than the changes is left alone"
    )
