"""The pytest plugin: ``crash_test`` runs your flow with crashes at seeded moments.

It is loaded by itself wherever falkirk is installed. ``--falkirk-seed N`` repeats one trial, and
``--falkirk-trials N`` makes more of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from falkirk.dataflow.builder import Dataflow
    from falkirk.runtime.options import Options
    from falkirk.testing.crashing import Inputs, Result, Trial
    from falkirk.testing.script import Remembered

TRIALS = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the plugin."""
    group = parser.getgroup("falkirk", "crashes at seeded moments")
    group.addoption("--falkirk-seed", type=int, help="Make one trial only, with this seed.")
    group.addoption("--falkirk-trials", type=int, help="How many trials crash_test makes.")


@dataclass
class CrashOutcome:
    """What came of a crash test: the outputs of the calm run, and all trials."""

    outputs: "dict[str, Remembered]"
    trials: "list[Trial]" = field(default_factory=list)

    @property
    def crashes(self) -> int:
        """How often the driver crashed."""
        return sum(trial.crashes for trial in self.trials)

    @property
    def recoveries(self) -> int:
        """How often somebody was rolled back, restarts included."""
        return sum(len(trial.recoveries) for trial in self.trials)


class CrashTester:
    """The fixture's value: call it with a flow."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        """Knows the test that it is for."""
        self.request, self.folder, self.calls = request, folder, 0

    def __call__(
        self,
        flow: "Dataflow",
        *,
        inputs: "Inputs | None" = None,
        trials: int = TRIALS,
        crashes: int = 2,
        failures: int = 2,
        seed: int = 0,
        result: "Result | None" = None,
        options: "Options | None" = None,
        spark: Any = None,
    ) -> CrashOutcome:
        """Requires that crashes and failures change nothing of what ``flow`` writes.

        ``inputs`` has for some inputs, by name, epochs of rows to read instead of their sources;
        outputs are remembered instead of written. The flow runs once in peace, and ``trials`` times
        with so many ``crashes`` of the whole driver and ``failures`` of processors. ``result``
        says what of an output must be the same: by default the rows of every time.
        """
        from falkirk.runtime.options import Options
        from falkirk.testing.crashing import CrashTest

        config = self.request.config
        chosen = config.getoption("--falkirk-seed")
        count = config.getoption("--falkirk-trials") or trials
        seeds = range(seed, seed + count) if chosen is None else [chosen]
        self.calls += 1
        session = spark or self.request.getfixturevalue("falkirk_spark")
        test = CrashTest(
            flow, self.folder / str(self.calls), session, inputs or {}, options or Options()
        )
        compared = result or (lambda output: output.times)
        calm = test.calm()
        outcome = CrashOutcome(calm.outputs)
        for each in seeds:
            try:
                trial = test.struck(each, calm, crashes, failures)
            except Exception as error:
                error.add_note(self.replay(each))
                raise
            difference = test.difference(calm, trial, compared)
            if difference is not None:
                pytest.fail(f"failures have changed {difference}\n{self.replay(each)}", False)
            outcome.trials.append(trial)
        return outcome

    def replay(self, seed: int) -> str:
        """How to see it again."""
        return f"again: pytest '{self.request.node.nodeid}' --falkirk-seed={seed}"


@pytest.fixture
def crash_test(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., CrashOutcome]:
    """Runs a flow with crashes at seeded moments, and requires that its outputs do not change."""
    return CrashTester(request, tmp_path / "falkirk")


@pytest.fixture(scope="session")
def falkirk_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The Spark session of crash tests: two local cores. Override it to use one of your own."""
    from falkirk.runtime.session import start_session

    folder = tmp_path_factory.mktemp("falkirk-spark")
    settings = {
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
    }
    session = start_session("falkirk-tests", "local[2]", settings)
    yield session
    session.stop()
