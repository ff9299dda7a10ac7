"""What a contender is given: warm-up, practice, backlogs, and a steady stream with a kill."""

from dataclasses import dataclass

from benchmarks.ysb.stream import WINDOW_MS, Piece, pieces

FILE_MS = 100
"""How much time a file of the steady stream covers."""

LEAD_MS = 2_000
"""The stream runs for so long before the first window that is measured begins."""

BEGIN_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Plan:
    """Events a second of the stream; events to warm up, seconds of practice, events of a backlog,
    which comes several times; whole windows."""

    rate: int = 10_000
    warm: int = 200_000
    practice: int = 30
    backlog: int = 500_000
    times: int = 3
    file: int = 10_000
    steady: int = 2
    repetitions: int = 3

    def warming(self) -> list[list[Piece]]:
        """Small files, then large ones, in rounds: who takes all at once would do little twice.

        The last round is a backlog, for so many rows at once may take code that fewer do not.
        """
        small = self._small(0, BEGIN_MS, 20 * FILE_MS)
        large = self._large(20, self.warm, BEGIN_MS + WINDOW_MS)
        several = max(1, len(large) // 4)
        last = self._large(500, self.backlog, BEGIN_MS + 50 * WINDOW_MS)
        return [*split(small, 2), *split(large, several), last]

    def practising(self) -> list[Piece]:
        """The steady stream for a while, for Java compiles what runs often, and that takes time."""
        return self._small(600, BEGIN_MS + 60 * WINDOW_MS, self.practice * 1000)

    def backlogs(self) -> list[list[Piece]]:
        """What waits all at once, several times."""
        return [
            self._large(1_000 + 100 * k, self.backlog, BEGIN_MS + (100 + 10 * k) * WINDOW_MS)
            for k in range(self.times)
        ]

    def _small(self, first: int, begin_ms: int, span_ms: int) -> list[Piece]:
        return pieces(first, span_ms // FILE_MS, begin_ms, FILE_MS, self.rate * FILE_MS // 1000)

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
        return self._small(10_000, begin, self.failing_window_ms + WINDOW_MS - begin)

    def last_before_kill(self) -> Piece:
        """The file after which the contender is killed: the middle of its window."""
        middle = self.failing_window_ms + WINDOW_MS // 2
        return next(piece for piece in self.stream() if piece.begin_ms + FILE_MS >= middle)


def split(stream: list[Piece], size: int) -> list[list[Piece]]:
    """So many at a time."""
    return [stream[i : i + size] for i in range(0, len(stream), size)]


FULL = Plan()
QUICK = Plan(warm=100_000, practice=3, backlog=200_000, times=1, steady=1, repetitions=1)
