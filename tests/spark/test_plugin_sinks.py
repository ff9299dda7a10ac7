"""``crash_test`` with real sinks: what the outside shows must be what it shows without failures."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.dataset as datasets
import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.testing.plugin import CrashTester
from falkirk.testing.script import Script

pytestmark = pytest.mark.spark

EPOCHS = [[{"item": f"i{n % 3}", "amount": n}] for n in range(6)]


@dataclass(frozen=True)
class Appending:
    """Adds rows to a file, and never looks whether they are there."""

    path: Path
    exactly_once: bool = True

    def write(self, name: str, time: tuple, batch: fk.Batch) -> None:
        with self.path.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in batch.arrow().to_pylist())


def sums(sink: Any) -> fk.Dataflow:
    flow = fk.Dataflow("sums")
    totals = flow.read(Script([]), name="rows").group_by("item").agg(n="sum(amount)", name="sums")
    totals.write(sink, name="out")
    totals.write(fk.ParquetSink("never-written"), name="beside")
    return flow


def lines(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "lines").read_text().splitlines()]


def files(folder: Path) -> list[Any]:
    rows = datasets.dataset(folder / "out", partitioning="hive").to_table().to_pylist()
    return list(rows)


@pytest.mark.parametrize("seed", range(3))
def test_a_sink_that_claims_to_be_exactly_once_and_is_not_is_found(
    crash_test: CrashTester, spark: SparkSession, seed: int
) -> None:
    with pytest.raises(pytest.fail.Exception) as caught:
        crash_test(
            lambda folder: sums(Appending(folder / "lines")),
            inputs={"rows": EPOCHS},
            shown={"out": lines},
            trials=1,
            crashes=1,
            failures=0,
            seed=seed,
            spark=spark,
        )
    told = str(caught.value)
    assert "failures have changed 'out', as the outside shows it: " in told
    assert "rows instead of 6\n  too often [{'item': 'i" in told
    assert "the driver crashed before it knew that the sink of 'out' has taken (" in told


def test_an_honest_sink_passes_and_is_written_to_in_a_folder_of_each_trial(
    crash_test: CrashTester, spark: SparkSession
) -> None:
    folders = set()

    def flow(folder: Path) -> fk.Dataflow:
        folders.add(folder)
        return sums(fk.ParquetSink(folder / "out"))

    outcome = crash_test(flow, inputs={"rows": EPOCHS}, shown={"out": files}, trials=2, spark=spark)
    assert outcome.crashes == 4
    assert len(folders) == 3, "the run in peace has one, too"
    assert {"item": "i2", "n": 7, "epoch": 5} in outcome.shown["out"]
    assert outcome.outputs.keys() == {"beside"}, "who is not asked for is remembered"
    assert outcome.outputs["beside"].times[(5,)] == [{"item": "i2", "n": 7}]
    assert not Path("never-written").exists()


def test_an_at_least_once_sink_may_show_rows_again(
    crash_test: CrashTester, spark: SparkSession
) -> None:
    outcome = crash_test(
        lambda folder: sums(Appending(folder / "lines", exactly_once=False)),
        inputs={"rows": EPOCHS},
        shown={"out": lines},
        trials=1,
        spark=spark,
    )
    assert outcome.crashes == 2
    assert len(outcome.trials[0].shown["out"]) > len(outcome.shown["out"]) == 6


def test_a_real_sink_needs_a_flow_that_is_made_in_a_folder(
    crash_test: CrashTester, spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(fk.FalkirkError, match="a function of a folder that makes the flow"):
        crash_test(sums(Appending(tmp_path / "lines")), shown={"out": lines}, spark=spark)


def test_an_output_that_is_not_there(crash_test: CrashTester, spark: SparkSession) -> None:
    with pytest.raises(fk.FalkirkError, match="has no output 'o': it has beside, out"):
        crash_test(
            lambda folder: sums(Appending(folder / "lines")), shown={"o": lines}, spark=spark
        )
