"""One run of one contender: backlogs, a steady stream, a kill in the middle of its last window."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from benchmarks.spread import median
from benchmarks.ysb.contenders import ROOT, Contender
from benchmarks.ysb.observer import LOOK_SECONDS, Observer
from benchmarks.ysb.outcome import Live, Run, outcome
from benchmarks.ysb.stream import WINDOW_MS, Piece, expected, make, make_campaigns, pieces
from benchmarks.ysb.worker import Died, Worker

FILE_MS = 100
"""How much time a file of the steady stream covers."""

LEAD_MS = 2_000
"""The stream runs for so long before the first window that is measured begins."""

BEGIN_MS = 1_700_000_000_000
PATIENCE_SECONDS, GRACE_SECONDS = 300.0, 60.0
"""For results while all is well, and after the stream has ended."""


@dataclass(frozen=True)
class Plan:
    """Events a second of the stream; events to warm up and of a backlog, which comes several
    times; whole windows."""

    rate: int = 10_000
    warm: int = 200_000
    backlog: int = 500_000
    times: int = 3
    file: int = 10_000
    steady: int = 2
    repetitions: int = 3

    def warming(self) -> list[list[Piece]]:
        """Small files, then large ones, in rounds: who takes all at once would do little twice.

        The last round is a backlog, for so many rows at once may take code that fewer do not.
        """
        small = pieces(0, 20, BEGIN_MS, FILE_MS, self.rate * FILE_MS // 1000)
        large = self._large(20, self.warm, BEGIN_MS + WINDOW_MS)
        several = max(1, len(large) // 4)
        last = self._large(500, self.backlog, BEGIN_MS + 50 * WINDOW_MS)
        return [*split(small, 2), *split(large, several), last]

    def backlogs(self) -> list[list[Piece]]:
        """What waits all at once, several times."""
        return [
            self._large(1_000 + 100 * k, self.backlog, BEGIN_MS + (100 + 10 * k) * WINDOW_MS)
            for k in range(self.times)
        ]

    def _large(self, first: int, events: int, begin_ms: int) -> list[Piece]:
        span_ms = self.file * 1000 // self.rate
        return pieces(first, events // self.file, begin_ms, span_ms, self.file)

    @property
    def first_window_ms(self) -> int:
        """When the first window begins that is measured."""
        return BEGIN_MS + 200 * WINDOW_MS

    @property
    def failing_window_ms(self) -> int:
        """When the window begins in which the contender is killed."""
        return self.first_window_ms + self.steady * WINDOW_MS

    def stream(self) -> list[Piece]:
        """The steady stream."""
        begin = self.first_window_ms - LEAD_MS
        count = (self.failing_window_ms + WINDOW_MS - begin) // FILE_MS
        return pieces(10_000, count, begin, FILE_MS, self.rate * FILE_MS // 1000)

    def last_before_kill(self) -> Piece:
        """The file after which the contender is killed: the middle of its window."""
        middle = self.failing_window_ms + WINDOW_MS // 2
        return next(piece for piece in self.stream() if piece.begin_ms + FILE_MS >= middle)


def split(stream: list[Piece], size: int) -> list[list[Piece]]:
    """So many at a time."""
    return [stream[i : i + size] for i in range(0, len(stream), size)]


FULL = Plan()
QUICK = Plan(warm=100_000, backlog=200_000, times=1, steady=1, repetitions=1)


def measured(place: Path, contender: Contender, plan: Plan) -> Run:
    """Runs a contender from its first start to its last result."""
    folder = Path(tempfile.mkdtemp(dir=place))
    make_campaigns(folder / "campaigns")
    worker = Worker(contender, folder)
    begun = worker.start()
    watching = Watching(worker, Observer(folder / "out"))
    try:
        start_seconds = watching.warm(plan) - begun
        backlogs = [watching.backlog(each) for each in plan.backlogs()]
        live = watching.live(plan)
    finally:
        worker.kill()
    everything = [*chain(*plan.warming()), *chain(*plan.backlogs()), *plan.stream()]
    right, backlog_seconds = expected(everything), median(backlogs)
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

    def live(self, plan: Plan) -> Live:
        """The steady stream with its kill."""
        stream, last = plan.stream(), plan.last_before_kill()
        folder, emitted = self.worker.folder, self.worker.folder / "emitted"
        shape = [10_000, len(stream), stream[0].begin_ms, FILE_MS, stream[0].events]
        generator = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.ysb.generator", folder, emitted, *map(str, shape)],
            cwd=ROOT,
        )
        try:
            marker = folder / "in" / last.name
            while not marker.exists():
                self.observer.look()
                self.worker.check()
                time.sleep(LOOK_SECONDS)
            self.worker.fail()
            self.observer.look()  # what it showed with its last breath is no recovery
            killed = time.monotonic()
            if self.worker.process is None:
                self.worker.start()
            while generator.poll() is None:
                self.observer.look()
                self.worker.check()
                time.sleep(LOOK_SECONDS)
        finally:
            generator.kill()
            generator.wait()
        counts = expected(stream)
        self.watch(lambda: self.observer.shows(counts), GRACE_SECONDS)
        lines = (line.split() for line in emitted.read_text().splitlines())
        moments = {int(number): float(seconds) for number, seconds in lines}
        windows = plan.first_window_ms, plan.failing_window_ms
        return Live(stream, moments, windows, killed)
