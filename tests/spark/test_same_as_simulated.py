"""Spark and the simulator choose the same frontiers for the same flow and the same failure.

A flow runs on Spark, and processors lose what they hold at chosen points. Everything that its
machine was told is written down. Then a second machine is told the same, beside the simulator's
store and without any rows, and must ask for the same, effect by effect. After every transaction of
the run the process could have died: what the real store holds then and what the simulated one holds
must send everybody back to the same frontiers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark.recording import Entry, Loss, Recorder, Transacted
from tests.spark.replaying import Replay, SecondStore, same, written

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.core.errors import FalkirkError
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Retract, RolledBack
from falkirk.dataflow.blueprint import Blueprint
from falkirk.runtime.options import Options
from falkirk.runtime.run import prepared
from falkirk.store import open_store
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark

Sinks = Callable[[], Remembered]


def aggregates(sink: Sinks) -> fk.Dataflow:
    """Policies side by side behind a firewall."""
    flow = fk.Dataflow("aggregates")
    numbers = flow.read(Numbers(rows=30, rows_per_epoch=5), name="numbers")
    keyed = numbers.select("value", "value % 3 AS k", name="keyed", policy=fk.batch())
    groups = keyed.group_by("k")
    groups.count(name="lazy", policy=fk.lazy(every=2)).write(sink(), name="lazy-out")
    groups.count(name="eager", policy=fk.eager()).write(sink(), name="eager-out")
    groups.count(name="history", policy=fk.history()).write(sink(), name="history-out")
    return flow


def chain(sink: Sinks) -> fk.Dataflow:
    """Nothing is logged: who fails takes his neighbours along."""
    flow = fk.Dataflow("chain")
    numbers = flow.read(Numbers(rows=30, rows_per_epoch=5), name="numbers")
    first = numbers.group_by("value % 2 AS k").count(name="first", policy=fk.lazy(every=2))
    second = first.group_by("k").agg(total="sum(count)", name="second", policy=fk.lazy(every=3))
    second.write(sink(), name="out")
    first.write(sink(), name="beside")
    return flow


def loop(sink: Sinks) -> fk.Dataflow:
    """State inside a loop."""

    def body(inner: Any) -> tuple[Any, Any]:
        stepped = inner.select("value", "n - 1 AS n", name="stepped")
        seen = stepped.group_by("n").count(name="seen", policy=fk.lazy(every=2))
        return stepped.where("n > 0", name="more"), seen

    flow = fk.Dataflow("loop")
    numbers = flow.read(Numbers(rows=12, rows_per_epoch=3), name="numbers")
    ready = numbers.select("value", "value % 3 + 1 AS n", name="ready", policy=fk.batch())
    ready.iterate(body, name="rounds").write(sink(), name="out")
    return flow


CASES: dict[str, tuple[Callable[[Sinks], fk.Dataflow], list[Loss]]] = {
    "lazy": (aggregates, [Loss("lazy", 5, frozenset({"lazy"}))]),
    "history": (aggregates, [Loss("history", 7, frozenset({"history"}))]),
    "several": (
        aggregates,
        [
            Loss("keyed", 2, frozenset({"eager", "keyed"})),
            Loss("lazy", 6, frozenset({"numbers", "lazy", "eager-out"})),
        ],
    ),
    "chain": (
        chain,
        [Loss("second", 3, frozenset({"second"})), Loss("first", 9, frozenset({"first"}))],
    ),
    "loop": (
        loop,
        [Loss("seen", 4, frozenset({"seen"})), Loss("more", 6, frozenset({"rounds", "seen"}))],
    ),
}


@dataclass(frozen=True)
class Run:
    """A run on Spark, written down."""

    blueprint: Blueprint
    entries: list[Entry]
    recoveries: list[RolledBack]
    sinks: list[Remembered]


Runs = Callable[[Callable[[Sinks], fk.Dataflow], list[Loss]], Run]


@pytest.fixture(scope="module")
def runs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs a flow on Spark with failures; one that was run already is not run again."""
    known: dict[str, Run] = {}

    def run(make: Callable[[Sinks], fk.Dataflow], losses: list[Loss]) -> Run:
        key = f"{make.__name__} {losses}"
        if key not in known:
            known[key] = recorded(spark, tmp_path_factory.mktemp("store"), make, losses)
        return known[key]

    return run


def recorded(
    spark: SparkSession, folder: Path, make: Callable[[Sinks], fk.Dataflow], losses: list[Loss]
) -> Run:
    """Runs a flow on Spark and writes down what happens."""
    sinks: list[Remembered] = []

    def sink() -> Remembered:
        sinks.append(Remembered())
        return sinks[-1]

    blueprint, store = make(sink).build(), open_store(folder)
    lease = store.acquire()
    driver = prepared(blueprint, store, spark, Options())
    recorder = Recorder(driver, store, losses)
    report = driver.run()
    lease.release()
    store.close()
    return Run(blueprint, recorder.entries, report.recoveries, sinks)


@pytest.mark.parametrize("case", CASES)
def test_the_same_failure_leads_to_the_same_frontiers(runs: Runs, case: str) -> None:
    make, losses = CASES[case]
    run = runs(make, losses)
    assert len(run.recoveries) == len(losses)
    replay = Replay(run.blueprint.flow)
    for entry in run.entries:
        replay.tell(entry)
    assert [r.frontiers for r in replay.rollbacks] == [r.frontiers for r in run.recoveries]
    untroubled = runs(make, [])
    assert [sink.times for sink in run.sinks] == [sink.times for sink in untroubled.sinks]


def crashes(run: Run, folder: Path, dropping: tuple[type, ...] = ()) -> int:
    """Lets the process die after every transaction, and compares; how often it died."""
    flow, found = run.blueprint.flow, 0
    replay = Replay(flow)
    second = SecondStore(folder, flow, replay.tokens, dropping)
    for number, entry in enumerate(run.entries):
        replay.tell(entry)
        if not isinstance(entry, Transacted):
            continue
        second.transact(entry)
        real = Machine(flow, second.load())
        simulated = Machine(flow, {p: replay.store.read(p) for p in flow.processors})
        same(real.effects, simulated.effects, f"a crash after entry {number}")
        offers = [sorted(map(written, machine.enabled())) for machine in (real, simulated)]
        assert offers[0] == offers[1], f"what is offered after a crash after entry {number}"
        found += 1
    second.store.close()
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_crash_after_any_transaction_leads_to_the_same_frontiers(
    runs: Runs, tmp_path: Path, case: str
) -> None:
    assert crashes(runs(*CASES[case]), tmp_path) > 10


def test_a_store_that_retracts_nothing_is_found_out(runs: Runs, tmp_path: Path) -> None:
    """The comparison has teeth."""
    with pytest.raises((AssertionError, FalkirkError)):
        crashes(runs(*CASES["several"]), tmp_path, dropping=(Retract,))
