"""Watches whether the cluster is about to remove records that may still be asked for (§4.3)."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from falkirk.connectors.kafka.offsets import Offsets

if TYPE_CHECKING:
    from falkirk.connectors.kafka.cluster import Cluster

log = logging.getLogger("falkirk.source")

LOOK_SECONDS = 10.0
AGAIN_SECONDS = 600.0
"""How long a warning about a partition holds."""

NEAR = 0.25
"""The part of the retention time in which a warning is due."""

STEPS = 2
"""So many removals like the last one must still fit before the first record that is needed."""


@dataclass(slots=True)
class Retention:
    """What may still be asked for, and what the cluster has removed so far.

    ``needed`` has the first offset of each partition that is not acknowledged.
    """

    needed: Offsets = field(default_factory=dict)
    look_seconds: float = LOOK_SECONDS
    clock: Callable[[], float] = time.time
    _looked: float = 0.0
    _begins: Offsets = field(default_factory=dict)
    _steps: Offsets = field(default_factory=dict)
    _warned: dict[tuple[str, int], float] = field(default_factory=dict)

    def stands(self, position: Offsets) -> None:
        """Somebody reads from ``position``: all after it is needed, if nothing before it is."""
        for place, offset in position.items():
            self.needed.setdefault(place, offset)

    def acknowledged(self, position: Offsets) -> None:
        """Nothing before ``position`` is needed any more."""
        for place, offset in position.items():
            self.needed[place] = max(offset, self.needed.get(place, 0))

    def look(self, cluster: "Cluster") -> None:
        """Warns of what is in danger; asks the cluster every few seconds only."""
        now = self.clock()
        if not self.needed or now - self._looked < self.look_seconds:
            return
        self._looked = now
        begins = cluster.beginnings(self.needed)
        for place, warning in {**self._by_size(begins), **self._by_time(cluster, now)}.items():
            if now - self._warned.get(place, float("-inf")) >= AGAIN_SECONDS:
                self._warned[place] = now
                log.warning("Kafka at %s: %s", cluster.settings.servers, warning)

    def _by_time(self, cluster: "Cluster", now: float) -> dict[tuple[str, int], str]:
        """Records that reach the end of the topic's retention time soon."""
        found = {}
        for topic in sorted({topic for topic, _ in self.needed}):
            if "delete" not in (cluster.setting(topic, "cleanup.policy") or "delete"):
                continue
            kept = int(cluster.setting(topic, "retention.ms") or -1)
            if kept < 0:
                continue
            places = [place for place in self.needed if place[0] == topic]
            young = cluster.since(places, int(now * 1000 - kept * (1 - NEAR)))
            ends = cluster.ends(places, committed=False)
            for place in places:
                reached = young[place] if young[place] >= 0 else ends[place]
                if reached > self.needed[place]:
                    found[place] = danger(
                        place,
                        self.needed[place],
                        f"{reached - self.needed[place]} records of these reach the retention time"
                        f" of {duration(kept / 1000)} within {duration(kept * NEAR / 1000)}",
                    )
        return found

    def _by_size(self, begins: Offsets) -> dict[tuple[str, int], str]:
        """Records that go after the next removals, if these are like the last one."""
        found = {}
        for place, begin in begins.items():
            before = self._begins.get(place, begin)
            if begin > before:
                self._steps[place] = begin - before
            margin, step = self.needed[place] - begin, self._steps.get(place, 0)
            if 0 <= margin < STEPS * step:
                found[place] = danger(
                    place,
                    self.needed[place],
                    f"the topic was last cut by {step} records, and {margin} are left before these",
                )
        self._begins = dict(begins)
        return found


def danger(place: tuple[str, int], needed: int, why: str) -> str:
    """What is in danger, why, and what can be done."""
    return (
        f"retention comes near: {place[0]}-{place[1]} is not acknowledged from offset {needed} on;"
        f" {why}. Keep the topic for longer (retention.ms, retention.bytes), let the flow"
        " checkpoint more often, or log the input (replayable=False)"
    )


def duration(seconds: float) -> str:
    """A time in its largest unit.

    >>> duration(90), duration(7200), duration(604800)
    ('90 seconds', '2 hours', '7 days')
    """
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} seconds"
