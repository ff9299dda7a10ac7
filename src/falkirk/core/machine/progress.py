"""Progress tracking: which times are complete where.

Every thing that can still cause an event is counted as a pointstamp (processor, time): a message on
its way, an event being worked on, a notification that was requested, an input that is still open. A
time t is complete at p when no pointstamp can lead to a time at or before t at p.
"""

from collections.abc import Iterable
from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.frontier import ProductFrontier, TotalFrontier
from falkirk.core.machine.summary import Summaries
from falkirk.core.order import product_leq
from falkirk.core.reorder import predecessor
from falkirk.core.times import INF, ProcessorId, Time

Pointstamp = tuple[ProcessorId, Time]


class Progress:
    """Counts of pointstamps, and what follows from them."""

    def __init__(self, domains: dict[ProcessorId, Any], summaries: Summaries) -> None:
        """No pointstamps: everything is complete."""
        self.domains = domains
        self.summaries = summaries
        self._into: dict[ProcessorId, list[tuple[ProcessorId, Any]]] = {p: [] for p in domains}
        for (p, q), paths in summaries.items():
            self._into[q].append((p, paths))
        self.counts: dict[ProcessorId, dict[Time, int]] = {p: {} for p in domains}
        self._known: dict[ProcessorId, Any] = {}

    def add(self, processor: ProcessorId, time: Time) -> None:
        """One more reason for events at ``time`` and later."""
        counts = self.counts[processor]
        count = counts.get(time, 0)
        counts[time] = count + 1
        if not count:
            self._known.clear()

    def remove(self, processor: ProcessorId, time: Time) -> None:
        """One reason less."""
        counts = self.counts[processor]
        count = counts[time] - 1
        if count:
            counts[time] = count
        else:
            del counts[time]
            self._known.clear()

    def rebuild(self, pointstamps: Iterable[Pointstamp]) -> None:
        """Counts anew, after a rollback."""
        self.counts = {p: {} for p in self.domains}
        self._known.clear()
        for processor, time in pointstamps:
            self.add(processor, time)

    def completed(self, p: ProcessorId) -> Any:
        """The largest frontier of p, in its order, all of whose times are complete."""
        known = self._known.get(p)
        if known is None:
            known = self._known[p] = self._completed(p)
        return known

    def may_notify(self, p: ProcessorId, time: Time) -> bool:
        """Whether the notification requested at ``time`` is the only thing that holds it open."""
        for q, paths in self._into[p]:
            for stamp, count in self.counts[q].items():
                if q == p and stamp == time and count == 1:
                    continue
                if any(product_leq(path.apply(stamp), time) for path in paths):
                    return False
        return True

    def _completed(self, p: ProcessorId) -> Any:
        domain = self.domains[p]
        assert isinstance(domain, Structured), "sequence numbers complete as they are delivered"
        ahead = [
            path.apply(stamp)
            for q, paths in self._into[p]
            for stamp in self.counts[q]
            for path in paths
        ]
        if not ahead:
            return domain.top
        if domain.total:
            return TotalFrontier(predecessor(min(ahead)))
        complete = domain.top
        for time in ahead:
            complete = complete & ProductFrontier(
                (*(INF,) * i, c - 1, *(INF,) * (len(time) - i - 1))
                for i, c in enumerate(time)
                if c > 0
            )
        return complete
