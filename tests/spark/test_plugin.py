"""The pytest plugin as its users have it: their own tests, in a pytest of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.docs.markdown import FENCE, ROOT

import falkirk as fk
from falkirk.runtime.options import Options
from falkirk.testing.crashing import CrashTest, Strikes
from falkirk.testing.ends import with_ends
from falkirk.testing.plugin import CrashTester
from falkirk.testing.script import Script

pytestmark = pytest.mark.spark

EPOCHS = [[{"item": f"i{n % 3}", "amount": n}] for n in range(6)]


class Forgetful(fk.Processor):
    """Counts in itself what it has seen, which nobody saves."""

    def __init__(self) -> None:
        self.seen = 0

    def on_message(self, ctx: fk.Context, port: int, time: tuple, batch: fk.Batch) -> None:
        self.seen += 1
        seen = self.seen
        ctx.send(batch.transform(lambda frame: frame.selectExpr("*", f"{seen} AS seen")))


def sums(policy: fk.Policy) -> fk.Dataflow:
    flow = fk.Dataflow("sums")
    rows = flow.read(Script([]), name="rows")
    rows.group_by("item").agg(n="sum(amount)", name="sums", policy=policy).write(
        fk.ParquetSink("never-written"), name="out"
    )
    return flow


@pytest.mark.parametrize(
    "policy", [fk.lazy(every=2), fk.eager(), fk.history()], ids=["lazy", "eager", "history"]
)
def test_a_sound_flow_passes_through_crashes_and_failures(
    crash_test: CrashTester, spark: SparkSession, policy: fk.Policy, tmp_path: Path
) -> None:
    outcome = crash_test(sums(policy), inputs={"rows": EPOCHS}, trials=2, spark=spark)
    assert outcome.crashes >= 2, "two in each trial, unless a run is at its end before"
    assert outcome.recoveries >= 2
    assert outcome.outputs["out"].times[(5,)] == [{"item": "i2", "n": 7}]
    assert not Path("never-written").exists()


def test_state_that_nobody_saves_is_found_and_the_seed_is_told(
    crash_test: CrashTester, spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    flow = fk.Dataflow("forgetful")
    flow.read(Script([]), name="rows").process(Forgetful(), name="count").write(
        fk.ParquetSink("never-written"), name="out"
    )
    with pytest.raises((pytest.fail.Exception, fk.FalkirkError)) as caught:
        crash_test(flow, inputs={"rows": EPOCHS}, trials=20, spark=spark)
    told = str(caught.value) + "".join(getattr(caught.value, "__notes__", []))
    assert "--falkirk-seed=" in told
    assert request.node.nodeid in told


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
    """The very first step of the second run comes after a crash before anything was written."""
    test = CrashTest(sums(fk.lazy()), tmp_path, spark, {"rows": EPOCHS}, Options())
    trial = test.run(1, Strikes(crashes=frozenset([(0, 2)])))
    assert trial.crashes == 1
    assert trial.outputs["out"].times[(0,)] == [{"item": "i0", "n": 0}]


def test_an_input_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(fk.FalkirkError, match="has no input 'row': it has rows"):
        with_ends(sums(fk.lazy()).build(), {"row": EPOCHS}, {})


def test_the_project_of_init_passes_its_own_test_and_that_of_the_documentation(
    tmp_path: Path,
) -> None:
    """With nothing but what a newcomer has; one seed, chosen on the command line."""
    project = tmp_path / "project"
    made = [sys.executable, "-m", "falkirk", "init", str(project)]
    subprocess.run(made, check=True, capture_output=True)
    page = (ROOT / "docs" / "how-to" / "test-your-flow.md").read_text("utf-8")
    snippet = next(body for language, body in FENCE.findall(page) if language == "python")
    assert "crash_test(flow" in snippet
    (project / "test_page.py").write_text(snippet)
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
    assert "2 passed" in done.stdout
