"""One run of one contender: practice, backlogs, a steady stream, a kill in its last window."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from benchmarks.harness.spread import median
from benchmarks.ysb.contenders import ROOT, Contender
from benchmarks.ysb.observer import LOOK_SECONDS, Observer
from benchmarks.ysb.outcome import Live, Run, outcome
from benchmarks.ysb.plan import Plan
from benchmarks.ysb.stream import Piece, expected, make, make_campaigns
from benchmarks.ysb.worker import Died, Worker

PATIENCE_SECONDS, GRACE_SECONDS = 300.0, 60.0
"""For results while all is well, and after the stream has ended."""


def measured(place: Path, contender: Contender, plan: Plan) -> Run:
    """Runs a contender from its first start to its last result."""
    folder = Path(tempfile.mkdtemp(dir=place))
    make_campaigns(folder / "campaigns")
    worker = Worker(contender, folder)
    begun = worker.start()
    watching = Watching(worker, Observer(folder / "out"))
    try:
        start_seconds = watching.warm(plan) - begun
        watching.practise(plan.practising())
        backlogs = [watching.backlog(each) for each in plan.backlogs()]
        live = watching.live(plan)
    finally:
        worker.kill()
    large = chain(*plan.warming(), *plan.backlogs())
    right = expected([*large, *plan.practising(), *plan.stream()])
    backlog_seconds = median(backlogs)
    run = outcome(live, watching.observer, right, start_seconds, backlog_seconds)
    shutil.rmtree(folder)
    return run


@dataclass
class Watching:
    """A worker and who looks at it."""

    worker: Worker
    observer: Observer

    def warm(self, plan: Plan) -> float:
        """Round by round; returns when the first results were visible."""
        fed: list[Piece] = []
        moments = []
        for round_ in plan.warming():
            fed += round_
            self.feed(round_)
            moments.append(self.await_counts(fed))
        return moments[0]

    def backlog(self, stream: list[Piece]) -> float:
        """Seconds from the moment when all files are there until their counts are."""
        fed = self.feed(stream)
        return self.await_counts(stream) - fed

    def feed(self, stream: list[Piece]) -> float:
        """Moves files in, all at once; returns when the last one was visible."""
        staged = self.worker.folder / "staged"
        make(staged, stream)
        for piece in stream:
            (staged / piece.name).rename(self.worker.folder / "in" / piece.name)
        return time.monotonic()

    def await_counts(self, stream: list[Piece]) -> float:
        """Waits until the counts of a part of the stream are right; returns when that was."""
        counts = expected(stream)
        if not self.watch(lambda: self.observer.shows(counts), PATIENCE_SECONDS):
            wrong = {key for key in counts if self.observer.latest.get(key) != counts[key]}
            raise Died(
                f"{len(wrong)} of {len(counts)} counts are wrong or missing after"
                f" {PATIENCE_SECONDS:.0f} s:\n{self.worker.last_words()}"
            )
        return self.observer.rows[-1].seconds

    def watch(self, happened: Callable[[], bool], seconds: float) -> bool:
        """Looks until something has happened; whether it has."""
        until = time.monotonic() + seconds
        fresh = True
        while not (fresh and happened()):
            if time.monotonic() > until:
                return False
            self.worker.check()
            time.sleep(LOOK_SECONDS)
            fresh = self.observer.look()
        return True

    def practise(self, stream: list[Piece]) -> None:
        """A stream that comes by the clock, until all of it is counted; nothing is measured."""
        with self.generated(stream) as generator:
            self.look_while(lambda: generator.poll() is None)
        self.await_counts(stream)

    def live(self, plan: Plan) -> Live:
        """The steady stream with its kill."""
        stream, last = plan.stream(), plan.last_before_kill()
        marker = self.worker.folder / "in" / last.name
        with self.generated(stream) as generator:
            self.look_while(lambda: not marker.exists())
            killed = self.worker.fail()
            self.observer.look()  # what it showed with its last breath is no recovery
            gone = time.monotonic()
            if self.worker.process is None:
                self.worker.start()
            self.look_while(lambda: generator.poll() is None)
        counts = expected(stream)
        self.watch(lambda: self.observer.shows(counts), GRACE_SECONDS)
        lines = (line.split() for line in self.emitted.read_text().splitlines())
        moments = {int(number): float(seconds) for number, seconds in lines}
        windows = plan.first_window_ms, plan.failing_window_ms
        return Live(stream, moments, windows, killed, gone)

    @property
    def emitted(self) -> Path:
        """Where the generator writes down when each file was there."""
        return self.worker.folder / "emitted"

    @contextmanager
    def generated(self, stream: list[Piece]) -> Iterator[subprocess.Popen[bytes]]:
        """Starts a generator of files that are as far apart as they cover."""
        first = stream[0]
        shape = [first.number, len(stream), first.begin_ms, first.span_ms, first.events]
        generator = subprocess.Popen(
            [
                *[sys.executable, "-m", "benchmarks.ysb.generator"],
                *[self.worker.folder, self.emitted, *map(str, shape)],
            ],
            cwd=ROOT,
        )
        try:
            yield generator
        finally:
            generator.kill()
            generator.wait()

    def look_while(self, condition: Callable[[], bool]) -> None:
        """Takes in what is shown, as long as something holds."""
        while condition():
            self.observer.look()
            self.worker.check()
            time.sleep(LOOK_SECONDS)
