"""The pytest plugin as its users have it: their own tests, in a pytest of their own."""

import os
import random
import subprocess
import sys
import time as clock
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.docs.markdown import FENCE, ROOT

import falkirk as fk
from falkirk.runtime.options import Options
from falkirk.testing.copying import afresh
from falkirk.testing.crashing import CrashTest
from falkirk.testing.ends import with_ends
from falkirk.testing.heard import What
from falkirk.testing.plugin import CrashTester
from falkirk.testing.script import Script
from falkirk.testing.strikes import Strike, Strikes

pytestmark = pytest.mark.spark

EPOCHS = [[{"item": f"i{n % 3}", "amount": n}] for n in range(6)]
PAGE = ROOT / "docs" / "how-to" / "test-your-flow.md"


class Forgetful(fk.Processor):
    """Counts in itself what it has seen, which nobody saves, and takes its time."""

    def __init__(self, held: Any = None) -> None:
        self.seen, self.held = 0, held

    def on_message(self, ctx: fk.Context, port: int, time: tuple, batch: fk.Batch) -> None:
        clock.sleep(random.random() / 20)
        self.seen += 1
        seen = self.seen
        ctx.send(batch.transform(lambda frame: frame.selectExpr("*", f"{seen} AS seen")))


def sums(policy: fk.Policy) -> fk.Dataflow:
    flow = fk.Dataflow("sums")
    rows = flow.read(Script([]), name="rows", limit=fk.Limit(seconds=60))
    rows.group_by("item").agg(n="sum(amount)", name="sums", policy=policy).write(
        fk.ParquetSink("never-written"), name="out"
    )
    return flow


def forgetful(held: Any = None) -> fk.Dataflow:
    flow = fk.Dataflow("forgetful")
    rows = flow.read(Script([]), name="rows")
    rows.process(Forgetful(held), name="count").write(fk.ParquetSink("never-written"), name="out")
    return flow


@dataclass(frozen=True)
class Slow:
    """A sink that takes its time."""

    path: Path
    exactly_once: bool = True

    def write(self, name: str, time: tuple, batch: fk.Batch) -> None:
        clock.sleep(random.random() / 20)
        with self.path.open("a") as file:
            file.write(f"{name} {time} {batch.arrow().to_pylist()}\n")


def hasty(folder: Path, policy: fk.Policy) -> fk.Dataflow:
    """Jobs beside what the driver does itself, and nobody takes as long as the last time."""
    flow = fk.Dataflow("hasty")
    rows = flow.read(Script([]), name="rows")
    named = rows.select("item", "amount", name="named", policy=fk.batch())
    named.process(Forgetful(), name="count", policy=policy).write(Slow(folder / "a"), name="a")
    doubled = rows.select("amount * 2 AS amount", name="doubled", policy=fk.batch())
    doubled.where("amount > 2", name="large").write(Slow(folder / "b"), name="b")
    return flow


@pytest.mark.parametrize(
    "policy", [fk.lazy(every=2), fk.eager(), fk.history()], ids=["lazy", "eager", "history"]
)
def test_a_sound_flow_passes_through_crashes_and_failures(
    crash_test: CrashTester, spark: SparkSession, policy: fk.Policy
) -> None:
    outcome = crash_test(sums(policy), inputs={"rows": EPOCHS}, trials=2, spark=spark)
    assert outcome.crashes >= 2, "two in each trial, unless a run is at its end before"
    assert outcome.recoveries >= 2
    assert outcome.outputs["out"].times[(5,)] == [{"item": "i2", "n": 7}]
    assert not Path("never-written").exists()


def test_state_that_nobody_saves_is_found_and_seed_and_moments_are_told(
    crash_test: CrashTester, spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(pytest.fail.Exception) as caught:
        crash_test(forgetful(), inputs={"rows": EPOCHS}, seed=1, trials=5, spark=spark)
    told = str(caught.value)
    assert "failures have changed 'out' at (" in told
    assert "run 1: the driver crashed" in told
    assert "knew that '" in told
    assert f"again: pytest '{request.node.nodeid}' --falkirk-seed=" in told


@pytest.mark.parametrize(
    "policy", [fk.lazy(every=2), fk.lazy(seconds=0.2)], ids=["by count", "by time"]
)
def test_a_seed_does_the_same_each_time(
    spark: SparkSession, policy: fk.Policy, tmp_path: Path
) -> None:
    """Whatever takes how long."""
    found = []
    for attempt in range(3):
        test = CrashTest(
            lambda folder: hasty(folder, policy),
            tmp_path / str(attempt),
            spark,
            {"rows": EPOCHS[:4]},
            Options(),
            {
                name: lambda folder, name=name: (folder / name).read_text().splitlines()
                for name in "ab"
            },
        )
        calm, trial = test.calm(), test.trial(3)
        test.struck(trial, calm, crashes=2, failures=2)
        found.append((list(calm.heard), list(trial.heard), str(trial), trial.shown))
    assert len(found[0][0]) > 50
    assert trial.crashes == 2
    assert all(each == found[0] for each in found)


def test_other_seeds_strike_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    test = CrashTest(sums(fk.lazy()), tmp_path, spark, {"rows": EPOCHS}, Options())
    calm, trials = test.calm(), [test.trial(seed) for seed in range(3)]
    for trial in trials:
        test.struck(trial, calm, crashes=1, failures=0)
    assert len({tuple(trial.happened) for trial in trials}) == 3


def test_a_state_beside_a_lock_does_not_outlive_a_crash(
    crash_test: CrashTester, spark: SparkSession
) -> None:
    with pytest.raises(pytest.fail.Exception, match="'seen': 1}"):
        crash_test(forgetful(Lock()), inputs={"rows": EPOCHS}, seed=1, trials=5, spark=spark)


def test_what_cannot_be_copied_is_refused_and_a_function_needs_no_copy(
    crash_test: CrashTester, spark: SparkSession
) -> None:
    with PAGE.open() as file:
        with pytest.raises(fk.FalkirkError, match=r"'count' cannot be copied.*Forgetful\.held"):
            crash_test(forgetful(file), inputs={"rows": EPOCHS}, spark=spark)
        with pytest.raises(pytest.fail.Exception, match="failures have changed 'out'"):
            crash_test(
                lambda folder: forgetful(file),
                inputs={"rows": EPOCHS},
                seed=1,
                trials=5,
                spark=spark,
            )


def test_frames_are_sparks_and_spark_lives_on(spark: SparkSession) -> None:
    frame = spark.range(1)
    copied = afresh(forgetful([frame, spark]).build()).nodes["count"].operator
    assert isinstance(copied, Forgetful)
    assert copied.held[0] is frame
    assert copied.held[1] is spark


def test_at_least_once_may_repeat_but_not_lose(
    crash_test: CrashTester, spark: SparkSession
) -> None:
    flow = fk.Dataflow("loose")
    rows = flow.read(Script([]), name="rows")
    rows.where("amount > 0", name="kept", policy=fk.at_least_once()).write(
        fk.ParquetSink("never-written"), name="out"
    )
    outcome = crash_test(flow, inputs={"rows": EPOCHS}, trials=2, spark=spark)
    assert sum(map(len, outcome.outputs["out"].times.values())) == 5


def test_a_crash_leaves_nothing_but_what_was_durable(spark: SparkSession, tmp_path: Path) -> None:
    """The first run dies when it has asked for a checkpoint, and the store has not written yet."""
    test = CrashTest(sums(fk.lazy()), tmp_path, spark, {"rows": EPOCHS}, Options())
    calm, trial = test.calm(), test.trial(1)
    known = list(calm.heard)
    closed = next(n for n, each in enumerate(known) if each.what is What.CLOSED)
    strike = Strike(0, (closed + 0.5) / len(known), after=True)
    test.run(trial, Strikes((strike,)), known)
    assert trial.happened == [
        "run 1: the driver crashed as soon as it knew that 'rows' has closed (0,)"
    ]
    assert trial.recoveries == [], "a store that holds nothing is begun afresh"
    assert trial.outputs["out"].times == calm.outputs["out"].times


def test_the_report_of_a_test_says_what_was_done(
    crash_test: CrashTester, spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    crash_test(sums(fk.lazy()), inputs={"rows": EPOCHS}, trials=1, seed=4, spark=spark)
    sections = [text for _, name, text in request.node._report_sections if name == "crash_test"]
    assert sections[0] == "real sinks: none; only remembered: out"
    assert sections[1].startswith("with seed 4:\n  run 1: ")


def test_an_input_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(fk.FalkirkError, match="has no input 'row': it has rows"):
        with_ends(sums(fk.lazy()).build(), {"row": EPOCHS}, {})


def test_the_project_of_init_passes_its_own_test_and_those_of_the_documentation(
    tmp_path: Path,
) -> None:
    """With nothing but what a newcomer has; one seed, chosen on the command line."""
    project = tmp_path / "project"
    made = [sys.executable, "-m", "falkirk", "init", str(project)]
    subprocess.run(made, check=True, capture_output=True)
    page = PAGE.read_text("utf-8")
    snippets = [body for language, body in FENCE.findall(page) if language == "python"]
    tests = [snippet for snippet in snippets if "crash_test(flow" in snippet]
    assert len(tests) == 2
    for number, snippet in enumerate(tests):
        (project / f"test_page_{number}.py").write_text(snippet)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--falkirk-seed=5", "-p", "no:cacheprovider"],
        cwd=project,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
