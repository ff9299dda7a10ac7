"""One run of one contender: it warms up, it is steady, three things fail, and it goes on."""

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figure_1.asking import OpenClients
from benchmarks.figure_1.contenders import Contender
from benchmarks.figure_1.outcome import Epochs, Moments, Run
from falkirk.demo.figure_1.clients import Clients
from falkirk.demo.figure_1.judging import Judge
from falkirk.demo.figure_1.runner import Demonstration, Settings, default_database
from falkirk.demo.figure_1.story import Story

MASTER = "local[2]"


@dataclass(frozen=True)
class Plan:
    """How much is measured, in seconds where nothing else is said.

    ``rows`` of records come every ``epoch``, a query every ``pause`` on average, and the baseline
    takes a snapshot every ``interval``. Between the ``steady`` part and the failures some time
    passes, so that they touch no query and no record of the steady part.
    """

    rows: int = 4_000
    epoch: float = 2.0
    pause: float = 0.25
    interval: float = 10.0
    warm: float = 15.0
    steady: float = 30.0
    after: float = 30.0
    repetitions: int = 3

    @property
    def apart(self) -> float:
        """What passes at least between the steady part and the failures."""
        return 1.5 * self.interval

    def failing_at(self, repetition: int, earliest: float) -> float:
        """When things fail: repetitions are spread evenly over the time between two snapshots."""
        phase = self.interval * (repetition + 0.5) / self.repetitions
        return earliest + (phase - earliest) % self.interval


FULL = Plan()
QUICK = Plan(rows=1_000, interval=4.0, warm=4.0, steady=8.0, after=12.0, repetitions=1)


class Unwatched:
    """Nobody looks."""

    def show(self, story: Story, clients: Clients, phase: str) -> None:
        """Nothing is shown."""


class Wrong(Exception):
    """A run whose answers or rows are not those of a run without failures: it has no figures."""


def measured(place: Path, contender: Contender, plan: Plan, repetition: int) -> Run:
    """Runs a contender from its start to the verdict."""
    folder = Path(tempfile.mkdtemp(dir=place))
    program = ("benchmarks.figure_1.worker", "--contender", contender.name)
    settings = Settings(
        folder,
        default_database(folder),
        MASTER,
        plan.rows,
        plan.epoch,
        program=(*program, "--interval", str(plan.interval)),
    )
    shown = Demonstration(settings, Unwatched())
    shown.clients = OpenClients(shown.port, pause=plan.pause, seed=repetition)
    try:
        moments = gone_through(shown, contender, plan, repetition)
    except BaseException:
        if shown.judge is not None:
            shown.judge.close()
        raise
    finally:
        shown.clients.stop(patience=0.0)
        shown.kill()
    if wrong := shown.verdict():
        raise Wrong(f"{contender.name}: {len(wrong)} things are wrong: {'; '.join(wrong[:5])}")
    epochs = Epochs.read(folder / "admitted.txt", folder / "events.jsonl")
    run = Run.of(moments, shown.clients.queries, epochs, shown.story)
    shutil.rmtree(folder)
    return run


def gone_through(
    shown: Demonstration, contender: Contender, plan: Plan, repetition: int
) -> Moments:
    """All phases, to the end of the flow; returns when they were."""
    shown.start()
    shown.go_on("the first versions are computed", shown.story.has_versions)
    shown.clients.start()
    shown.go_on("warming up", shown.waited(plan.warm))
    began = time.time()
    shown.go_on("steady", shown.waited(plan.steady))
    failing = plan.failing_at(repetition, began + plan.steady + plan.apart)
    shown.go_on("steady still", lambda: time.time() >= failing)
    failed = time.time()
    shown.story.broke("three failures at once", failed)
    shown.order("fail " + " ".join(contender.fails(shown.story.progress["processors"])))
    shown.go_on("after the failures", shown.waited(plan.after))
    ended = time.time()
    shown.clients.stop()
    shown.judge = Judge()
    shown.stop()
    return Moments(began, began + plan.steady, failed, ended)
