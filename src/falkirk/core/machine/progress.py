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
Known = tuple[Any, Pointstamp | None, Time | None]
"""What is complete, one pointstamp that keeps it from being more, and the time that it leads to."""


class Progress:
    """Counts of pointstamps, and what follows from them.

    ``stale`` are the processors for which that, or whatever else decides about their checkpoints,
    may have changed since somebody looked, who empties it.
    """

    def __init__(self, domains: dict[ProcessorId, Any], summaries: Summaries) -> None:
        """No pointstamps: everything is complete."""
        self.domains = domains
        self.summaries = summaries
        self._into: dict[ProcessorId, list[tuple[ProcessorId, Any]]] = {p: [] for p in domains}
        for (p, q), paths in summaries.items():
            self._into[q].append((p, paths))
        self._from: dict[ProcessorId, list[tuple[ProcessorId, Any]]] = {p: [] for p in domains}
        for (p, q), paths in summaries.items():
            self._from[p].append((q, paths))
        self.counts: dict[ProcessorId, dict[Time, int]] = {p: {} for p in domains}
        self._known: dict[ProcessorId, Known] = {}
        self.stale: set[ProcessorId] = set()

    def add(self, processor: ProcessorId, time: Time) -> None:
        """One more reason for events at ``time`` and later."""
        counts = self.counts[processor]
        count = counts.get(time, 0)
        counts[time] = count + 1
        if count:
            return
        stamp = (processor, time)
        for q, paths in self._from[processor]:
            known = self._known.get(q)
            if known is None:
                continue
            complete, blocking, first = known
            for path in paths:
                reached = path.apply(time)
                if reached == first:
                    # Of those that hold q up equally, the newest goes last: a message that
                    # moves on leaves what is known of everybody behind it as it is.
                    blocking = stamp
                elif reached in complete:
                    del self._known[q]
                    break
            else:
                if blocking is stamp:
                    self._known[q] = (complete, blocking, first)

    def remove(self, processor: ProcessorId, time: Time) -> None:
        """One reason less: perhaps the last for which something was not complete elsewhere."""
        counts = self.counts[processor]
        count = counts[time] - 1
        if count:
            counts[time] = count
            return
        del counts[time]
        for q, _ in self._from[processor]:
            known = self._known.get(q)
            if known is None or known[1] is None or known[1] == (processor, time):
                self._known.pop(q, None)
                self.stale.add(q)

    def rebuild(self, pointstamps: Iterable[Pointstamp]) -> None:
        """Counts anew, after a rollback."""
        self.counts = {p: {} for p in self.domains}
        self._known.clear()
        self.stale.update(self.domains)
        for processor, time in pointstamps:
            self.add(processor, time)

    def completed(self, p: ProcessorId) -> Any:
        """The largest frontier of p, in its order, all of whose times are complete."""
        known = self._known.get(p)
        if known is None:
            known = self._known[p] = self._completed(p)
        return known[0]

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

    def _completed(self, p: ProcessorId) -> Known:
        """What is complete at p, and the one pointstamp that keeps it from being more, if one does.

        Paths keep the lexicographic order, so where it is total the first stamp is what counts.
        """
        domain = self.domains[p]
        assert isinstance(domain, Structured), "sequence numbers complete as they are delivered"
        counts = self.counts
        if domain.total:
            first: Time | None = None
            blocking: Pointstamp | None = None
            for q, paths in self._into[p]:
                if counts[q]:
                    stamp = min(counts[q])
                    for path in paths:
                        time = path.apply(stamp)
                        if first is None or time < first:
                            first, blocking = time, (q, stamp)
            complete = domain.top if first is None else TotalFrontier(predecessor(first))
            return complete, blocking, first
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
        return complete, None, None
