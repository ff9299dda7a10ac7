"""What a run did, for those who started it."""

import logging
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.machine.events import RolledBack
from falkirk.core.times import ProcessorId

log = logging.getLogger("falkirk.recovery")


@dataclass(slots=True)
class Report:
    """The recoveries of a run, how many events were tried again, and which were set aside.

    The first of them is the start itself, if the store had been used. ``calm`` says that it
    recovered nothing: the run before had ended properly, and everybody kept all that it had saved.
    """

    recoveries: list[RolledBack] = field(default_factory=list)
    retries: int = 0
    set_aside: list[tuple[ProcessorId, Any]] = field(default_factory=list)
    calm: bool = False

    def rolled_back(self, effect: RolledBack) -> None:
        """A recovery happened."""
        self.recoveries.append(effect)
        for p, frontier in sorted(effect.frontiers.items()):
            if not frontier.is_top or p in effect.failed:
                log.info("%s goes back to %s", p, frontier)

    @property
    def recovered(self) -> int:
        """How often something was recovered from."""
        return len(self.recoveries) - self.calm

    def summary(self) -> list[str]:
        """What a person wants to know at the end."""
        recoveries = self.recovered
        again = f", {self.retries} events tried again" if self.retries else ""
        lines = [f"done: {recoveries} {'recovery' if recoveries == 1 else 'recoveries'}{again}"]
        lines += [f"set aside: a batch of {p!r} at {time}" for p, time in self.set_aside]
        return lines
