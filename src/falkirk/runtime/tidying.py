"""Collecting can wait: nobody's progress depends on it, and much of it at once costs little more.

A store that has not collected yet holds what it would hold after a crash just before. So collection
is put off until the store has nothing better to do, but not for long: what the outside has taken is
offered again after a crash until that is collected.
"""

import time
from collections.abc import Iterable
from dataclasses import replace

from falkirk.core.machine.events import Collect, CollectLog
from falkirk.core.times import EdgeId, ProcessorId

Tidying = Collect | CollectLog

QUIET_SECONDS = 0.02
"""So long nothing else has come, and the store may tidy up."""

PUT_OFF_SECONDS_MAX = 0.5
PUT_OFF_MAX = 32


class PutOff:
    """What is to be collected later. Only one thread uses it."""

    def __init__(self) -> None:
        """Nothing is."""
        self._effects: list[Tidying] = []
        self._since = 0.0

    def __len__(self) -> int:
        return len(self._effects)

    def put(self, effect: Tidying) -> None:
        """Puts an effect off."""
        if not self._effects:
            self._since = time.monotonic()
        self._effects.append(effect)

    def take(self, most: int | None = None) -> list[Tidying]:
        """What was put off, in as few effects as it takes: all of them, or the first ``most``."""
        found = merged(self._effects)
        taken, self._effects = found[:most], found[len(found[:most]) :]
        return taken

    @property
    def due(self) -> bool:
        """Whether it has waited long enough, or has become much."""
        waited = time.monotonic() - self._since
        return bool(self) and (len(self) >= PUT_OFF_MAX or waited >= PUT_OFF_SECONDS_MAX)

    @property
    def patience(self) -> float | None:
        """How long to wait for something better to do; None for ever."""
        return QUIET_SECONDS if self else None


def merged(effects: Iterable[Tidying]) -> list[Tidying]:
    """Effects that leave the same rows as ``effects``, one for each processor and each edge.

    A later fold has all state of the earlier ones, and low-watermarks only grow.
    """
    folds: dict[ProcessorId, Collect] = {}
    logs: dict[EdgeId, CollectLog] = {}
    for effect in effects:
        if isinstance(effect, CollectLog):
            logs[effect.edge] = effect
        elif (earlier := folds.get(effect.processor)) is None:
            folds[effect.processor] = effect
        else:
            folds[effect.processor] = replace(effect, times=earlier.times + effect.times)
    return [*folds.values(), *logs.values()]
