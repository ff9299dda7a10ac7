"""Who takes part: the same flow under the four regimes of the figure, and under one for all."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import falkirk as fk
from falkirk.demo.figure_1.flow import Regimes
from falkirk.demo.figure_1.trouble import CIRCLES

FALKIRK, STOP_THE_WORLD = "falkirk", "stop-the-world"
RANKS = ("in-order", "window", "totals", "ranks", "ranks-version")
"""The processors of the batch region."""

REDUCTION = ("views",)
"""An ephemeral processor."""

SLACK_SECONDS = 0.25
"""The machine looks at the clock twenty times a second: so late it may think that it saved."""


def passed(interval: float, completions: int, seconds: float) -> bool:
    """Whether a moment of a global snapshot has passed since a checkpoint, ``seconds`` ago.

    Snapshots are taken at the multiples of ``interval`` on the world's clock, so everybody takes
    part in the same one, whatever its epochs are.
    """
    now = time.time()
    return now // interval > (now - seconds + SLACK_SECONDS) // interval


class Unhurried(fk.HttpRequests):
    """Requests whose answers wait for the next snapshot: none is taken on their account."""

    @property
    def awaited(self) -> bool:
        """Nobody is said to wait for an acknowledgement."""
        return False


@dataclass(frozen=True)
class Contender:
    """How the flow is protected, who listens to users, and what three failures at once break."""

    name: str
    regimes: Callable[[float], Regimes]
    server: type[fk.HttpRequests]
    broken: tuple[str, ...]

    def fails(self, everybody: Iterable[str]) -> list[str]:
        """The processors that lose what they hold; all of them if none is named."""
        return list(self.broken or everybody)


CONTENDERS = {
    each.name: each
    for each in (
        Contender(FALKIRK, lambda _: Regimes(), fk.HttpRequests, (*CIRCLES, *RANKS, *REDUCTION)),
        Contender(
            STOP_THE_WORLD,
            lambda interval: Regimes.all_alike(fk.lazy(when=partial(passed, interval))),
            Unhurried,
            (),
        ),
    )
}
