"""Trying again: with growing pauses, and not for ever."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How often something that failed is tried again, and how long is waited in between.

    >>> list(Patience(attempts=4, first_seconds=0.1, seconds_max=0.3).pauses())
    [0.1, 0.2, 0.3]
    """

    attempts: int = 4
    first_seconds: float = 0.1
    seconds_max: float = 5.0

    def pauses(self) -> Iterator[float]:
        """The pause before the second attempt, the third, and so on."""
        pause = self.first_seconds
        for _ in range(self.attempts - 1):
            yield min(pause, self.seconds_max)
            pause *= 2

    def pause_after(self, failures: int) -> float | None:
        """The pause after so many failures; None when patience is at its end."""
        if failures >= self.attempts:
            return None
        return min(self.first_seconds * 2.0 ** (failures - 1), self.seconds_max)


USER_CODE = Patience(attempts=3)
"""An event that raises: a passing trouble goes away, a poisonous batch does not."""

LOSSES = Patience(attempts=10)
"""An event whose job met lost blocks: it is offered again once it is known who has lost what."""

OUTSIDE = Patience(attempts=8)
"""A sink or a source that does not answer."""

OUTAGE = Patience(attempts=70)
"""A system that is known to be down: some five minutes, so that it can be started again."""

STORE = Patience(attempts=12)
"""A store that cannot be written to: half a minute or so."""
