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
    """Counts of pointstamps, and what follows from them.

    ``stale`` are the processors for which that may have changed since somebody looked, who empties
    it.
    """

    def __init__(self, domains: dict[ProcessorId, Any], summaries: Summaries) -> None:
        """No pointstamps: everything is complete."""
        self.domains = domains
        self.summaries = summaries
        self._into: dict[ProcessorId, list[tuple[ProcessorId, Any]]] = {p: [] for p in domains}
        for (p, q), paths in summaries.items():
            self._into[q].append((p, paths))
        self._from: dict[ProcessorId, list[ProcessorId]] = {p: [] for p in domains}
        for p, q in summaries:
            self._from[p].append(q)
        self.counts: dict[ProcessorId, dict[Time, int]] = {p: {} for p in domains}
        self._known: dict[ProcessorId, Any] = {}
        self.stale: set[ProcessorId] = set()

    def add(self, processor: ProcessorId, time: Time) -> None:
        """One more reason for events at ``time`` and later."""
        counts = self.counts[processor]
        count = counts.get(time, 0)
        counts[time] = count + 1
        if not count:
            self._changed(processor)

    def remove(self, processor: ProcessorId, time: Time) -> None:
        """One reason less."""
        counts = self.counts[processor]
        count = counts[time] - 1
        if count:
            counts[time] = count
        else:
            del counts[time]
            self._changed(processor)

    def rebuild(self, pointstamps: Iterable[Pointstamp]) -> None:
        """Counts anew, after a rollback."""
        self.counts = {p: {} for p in self.domains}
        self._known.clear()
        self.stale.update(self.domains)
        for processor, time in pointstamps:
            self.add(processor, time)

    def _changed(self, processor: ProcessorId) -> None:
        """Something may be complete, or no longer, wherever events of ``processor`` lead."""
        known = self._known
        for q in self._from[processor]:
            known.pop(q, None)
        self.stale.update(self._from[processor])

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
                if stamp == time and q == p and count == 1:
                    continue
                if stamp[0] > time[0]:
                    continue  # no path leads to an earlier epoch
                for path in paths:
                    if product_leq(path.apply(stamp), time):
                        return False
        return True

    def _completed(self, p: ProcessorId) -> Any:
        domain = self.domains[p]
        assert isinstance(domain, Structured), "sequence numbers complete as they are delivered"
        counts = self.counts
        if domain.total:  # paths keep the lexicographic order, so the first stamp is what counts
            first = [
                path.apply(min(counts[q]))
                for q, paths in self._into[p]
                if counts[q]
                for path in paths
            ]
            return TotalFrontier(predecessor(min(first))) if first else domain.top
        ahead = {
            path.apply(stamp) for q, paths in self._into[p] for stamp in counts[q] for path in paths
        }
        complete = domain.top
        for time in sorted(ahead):
            if time not in complete:
                continue  # not complete anyway
            complete = complete & ProductFrontier(
                (*(INF,) * i, c - 1, *(INF,) * (len(time) - i - 1))
                for i, c in enumerate(time)
                if c > 0
            )
        return complete
