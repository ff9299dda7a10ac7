"""How soon to look again at a source that has nothing new.

A look at a folder takes less than a tenth of a millisecond, a question to a server a hundred times
as long. While the flow has nothing else to do, a source is asked as often as costs little; while it
works, at its usual pace, for to look takes time from the work.
"""

from dataclasses import dataclass
from threading import Event

LEAST_SECONDS = 0.002
"""The shortest pause, if there is one source; if there are several, each has its turn."""

OFTEN_SECONDS_MAX = 0.01
"""Who sets a slower pace than this has asked for it, and gets it."""

SHARE = 20
"""Looking takes one part in so many of a thread's time."""


@dataclass(frozen=True, slots=True)
class Looking:
    """Pauses of at most ``seconds_max`` for each of so many ``sources``; ``closing`` ends them."""

    seconds_max: float
    sources: int
    closing: Event

    @property
    def often(self) -> bool:
        """Whether an idle flow may look more often than every ``seconds_max``."""
        return self.seconds_max <= OFTEN_SECONDS_MAX

    def pause(self, took: float) -> float:
        """How long to leave a source alone after a look that ``took`` so many seconds.

        >>> looking = Looking(seconds_max=0.01, sources=1, closing=Event())
        >>> [looking.pause(took) for took in (0.00005, 0.0004, 0.1)]
        [0.002, 0.008, 0.01]
        """
        least = LEAST_SECONDS * self.sources
        return min(self.seconds_max, max(least, SHARE * took))
