"""The pytest plugin: ``crash_test`` runs your flow with crashes at seeded moments.

It is loaded by itself wherever falkirk is installed. ``--falkirk-seed N`` repeats one trial, and
``--falkirk-trials N`` makes more of them.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from falkirk.runtime.options import Options
    from falkirk.testing.crashing import CrashTest, Inputs, Result, Shown, Trial
    from falkirk.testing.making import Made
    from falkirk.testing.script import Remembered

TRIALS = 3

log = logging.getLogger("falkirk.crash_test")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the plugin."""
    group = parser.getgroup("falkirk", "crashes at seeded moments")
    group.addoption("--falkirk-seed", type=int, help="Make one trial only, with this seed.")
    group.addoption("--falkirk-trials", type=int, help="How many trials crash_test makes.")


@dataclass
class CrashOutcome:
    """What came of a crash test: the outputs of the calm run, and all trials.

    ``outputs`` has what was remembered, ``shown`` what the outside shows of sinks that are real.
    """

    outputs: "dict[str, Remembered]"
    shown: dict[str, list[Any]] = field(default_factory=dict)
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
        flow: "Made",
        *,
        inputs: "Inputs | None" = None,
        shown: "Shown | None" = None,
        trials: int = TRIALS,
        crashes: int = 2,
        failures: int = 2,
        seed: int = 0,
        result: "Result | None" = None,
        options: "Options | None" = None,
        spark: Any = None,
    ) -> CrashOutcome:
        """Requires that crashes and failures change nothing of what ``flow`` writes.

        ``flow`` may be a function that makes it: it gets a folder, a new one for each trial, and is
        called for each run of the flow. ``inputs`` has for some inputs, by name, epochs of rows to
        read instead of their sources. Outputs are remembered instead of written, but for those
        that ``shown`` has, by name, a function for: it gets the folder and reads what the outside
        sees. The flow runs once in peace, and ``trials`` times with so many ``crashes`` of the
        whole driver and ``failures`` of processors. ``result`` says what of an output that is
        remembered must be the same: by default the rows of every time.
        """
        from falkirk.runtime.options import Options
        from falkirk.testing.crashing import CrashTest

        config = self.request.config
        chosen = config.getoption("--falkirk-seed")
        count = config.getoption("--falkirk-trials") or trials
        seeds = range(seed, seed + count) if chosen is None else [chosen]
        self.calls += 1
        folder = self.folder / str(self.calls)
        session = spark or self.request.getfixturevalue("falkirk_spark")
        test = CrashTest(flow, folder, session, inputs or {}, options or Options(), shown)
        calm = test.calm()
        outcome = CrashOutcome(calm.outputs, calm.shown)
        self.report(ends(test))
        for each in seeds:
            trial = test.trial(each)
            outcome.trials.append(trial)
            try:
                test.struck(trial, calm, crashes, failures)
            except Exception as error:
                error.add_note(f"{trial}\n{self.replay(each)}")
                raise
            found = test.difference(calm, trial, result or (lambda output: output.times))
            if found is not None:
                pytest.fail(f"failures have changed {found}\n{trial}\n{self.replay(each)}", False)
            self.report(str(trial))
        return outcome

    def report(self, text: str) -> None:
        """Tells what was done: in the log, and in the report of the test, should it fail."""
        log.info("%s", text)
        self.request.node.add_report_section("call", "crash_test", text)

    def replay(self, seed: int) -> str:
        """How to see it again."""
        return f"again: pytest '{self.request.node.nodeid}' --falkirk-seed={seed}"


def ends(test: "CrashTest") -> str:
    """Which sinks a test really writes to."""
    real = ", ".join(test.written) or "none"
    replaced = ", ".join(name for name in test.blueprint.sinks if name not in test.shown) or "none"
    return f"real sinks: {real}; only remembered: {replaced}"


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
