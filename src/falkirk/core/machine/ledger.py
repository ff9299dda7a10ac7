"""What a processor owns, kept by time: state, sent messages, requests, and what it processed.

One :class:`Record` an event time. Everything else follows by a filter: the state at f is that of
the records in f, the log at f likewise, and M̄, N̄, D̄ and φ at f are folds over them (§3.4).
Records below the low-watermark with nothing left to send are folded into one.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.domain import Structured
from falkirk.core.frontier import TotalFrontier
from falkirk.core.graph import Edge, Graph
from falkirk.core.machine.flow import Batch
from falkirk.core.machine.message import Message
from falkirk.core.machine.record import Base, Past, Record, Sent
from falkirk.core.order import product_leq
from falkirk.core.times import INF, EdgeId, ProcessorId, SequenceNumber

__all__ = ["Base", "Ledger", "Past", "Record", "Sent", "count_frontier", "reach", "within"]


class Ledger:
    """The records of one processor, and the metadata that follows from them."""

    @classmethod
    def of(cls, graph: Graph, p: ProcessorId) -> "Ledger":
        """An empty ledger for ``p``."""
        outputs = graph.outputs(p)
        targets = {e.name: graph.domains[e.target] for e in outputs}
        return cls(graph.domains[p], graph.inputs(p), outputs, targets)

    def __init__(
        self, domain: Any, inputs: list[Edge], outputs: list[Edge], targets: dict[EdgeId, Any]
    ) -> None:
        """Nothing has happened; ``targets`` has the domain of each output edge's receiver."""
        self.domain, self.inputs, self.outputs, self.targets = domain, inputs, outputs, targets
        self.recorded = [e.name for e in outputs if e.projection.recorded]
        self.records: dict[Any, Record] = {}
        self.base = Base(
            domain.empty,
            {d.name: domain.edge_empty for d in inputs},
            domain.empty,
            {e.name: targets[e.name].edge_empty for e in outputs},
        )
        self.sent_count: dict[EdgeId, int] = {
            e.name: 0 for e in outputs if not isinstance(targets[e.name], Structured)
        }

    def copy(self) -> "Ledger":
        """An independent copy, as a store would hand out."""
        twin = copy(self)
        twin.records = {time: record.copy() for time, record in self.records.items()}
        twin.base = self.base.copy()
        twin.sent_count = dict(self.sent_count)
        return twin

    def at(self, time: Any) -> Record:
        """The record of ``time``, made when first asked for."""
        found = self.records.get(time)
        if found is None:
            found = self.records[time] = Record(time)
        return found

    def inside(self, frontier: Any) -> list[Record]:
        """The records whose events lie in ``frontier``."""
        return [record for record in self.records.values() if record.time in frontier]

    def trace(self, time: Any) -> list[tuple[Any, Batch]]:
        """The state that an event at ``time`` may see, with its times: all up to that one."""
        found = self._up_to(time, self.records.values())
        return [(when, batch) for when, batches in found for batch in batches]

    def earlier(self, time: Any) -> list[tuple[Any, Sequence[Batch]]]:
        """The same, but for what events of that very time have kept and nobody has folded yet.

        Merged runs of earlier times may bear that time, too. There may be thousands of batches, and
        an event need not look at them: they are given as they lie here.
        """
        return self._up_to(time, (each for each in self.records.values() if each.time != time))

    def _up_to(self, time: Any, records: Iterable[Record]) -> list[tuple[Any, Sequence[Batch]]]:
        every = isinstance(time, SequenceNumber)
        folded = [(when, (batch,)) for when, batch in self.base.state]
        kept = [(record.time, record.state) for record in records if record.state]
        return [entry for entry in (*folded, *kept) if every or product_leq(entry[0], time)]

    def state(self, time: Any) -> list[Batch]:
        """The state that an event at ``time`` may see, without its times."""
        return [batch for _, batch in self.trace(time)]

    def kept_times(self) -> set[Any]:
        """The times at which there is state."""
        kept = {time for time, record in self.records.items() if record.state}
        return kept | {time for time, _ in self.base.state}

    def position(self) -> Any:
        """The state of the latest time: where in its source an input stands; None if nowhere."""
        states = dict(self.base.state)
        states |= {time: record.state[-1] for time, record in self.records.items() if record.state}
        return states[max(states)] if states else None

    def rollback(self, frontier: Any) -> None:
        """H'(p) = H(p)@f: forgets every event outside ``frontier`` (§3.6)."""
        for time in [time for time in self.records if time not in frontier]:
            for edge, first in self.records.pop(time).first.items():
                self.sent_count[edge] = min(self.sent_count[edge], first - 1)

    def pending_requests(self) -> set[Any]:
        """Notifications that were requested and not delivered."""
        requested = set(self.base.requests)
        for record in self.records.values():
            requested |= record.requests
        return {t for t in requested if not self.was_notified(t)}

    def was_notified(self, time: Any) -> bool:
        """Whether the notification of ``time`` was delivered."""
        return time in self.base.frontier or (time in self.records and self.records[time].notified)

    def log(self, edge: EdgeId) -> list[Message]:
        """The logged messages of ``edge``, in the order in which they were sent."""
        found = [m for record in self.records.values() for m in record.sent if m.edge == edge]
        return sorted(found, key=lambda message: message.number)

    def forget_log(self, edge: EdgeId, reached: Any) -> bool:
        """Drops logged messages that the receiver will never ask for again (§4.2), if any."""
        found = False
        for record in self.records.values():
            if record.sent:
                kept = [m for m in record.sent if m.edge != edge or not within(m, reached)]
                found = found or len(kept) < len(record.sent)
                record.sent = kept
        return found

    def finished(self, watermark: Any) -> tuple[Any, ...]:
        """The times inside ``watermark`` that have nothing left to send."""
        return tuple(record.time for record in self.inside(watermark) if not record.sent)

    def fold(self, watermark: Any, times: Iterable[Any]) -> None:
        """Folds the records of finished ``times`` inside ``watermark`` into the base."""
        done = [self.records[time] for time in times if time in self.records]
        base = self.base
        if not done and base.frontier == watermark:
            return
        if done:
            base.notified, base.processed, base.discarded = self._folded(done)
        for record in done:
            base.state += [(record.time, batch) for batch in record.state]
            base.requests |= record.requests
            for edge, epoch in record.closed.items():
                base.closed[edge] = max(epoch, base.closed.get(edge, -1))
            del self.records[record.time]
        base.frontier = watermark
        base.requests = {time for time in base.requests if time not in watermark}

    def metadata(self, frontier: Any, told: Any = None) -> Checkpoint:
        """Ξ(p, f), exactly (§3.4); N̄ contains besides what the processor was ``told``."""
        notified, processed, discarded = self._folded(self.inside(frontier))
        if told is not None:
            notified = notified | told
        projected = {e: self.fixed(e, frontier) for e in self.recorded}
        return Checkpoint(frontier, notified, processed, discarded, projected)

    def _folded(self, records: list[Record]) -> tuple[Any, dict[EdgeId, Any], dict[EdgeId, Any]]:
        """N̄, M̄ and D̄ of the base and ``records`` together."""
        base, domain, targets = self.base, self.domain, self.targets
        if not records:
            return base.notified, dict(base.processed), dict(base.discarded)
        taken: dict[EdgeId, list[Any]] = {}
        sent: dict[EdgeId, list[Any]] = {}
        notified: list[Any] = []
        for record in records:
            for d in record.processed:
                taken.setdefault(d, []).append(record.time)
            for e, times in record.discarded.items():
                sent.setdefault(e, []).extend(times)
            if record.notified:
                notified.append(record.time)
        processed, discarded = dict(base.processed), dict(base.discarded)
        for d, found_times in taken.items():
            processed[d] = processed[d] | reach(domain, found_times)
        for e, found_times in sent.items():
            discarded[e] = discarded[e] | reach(targets[e], found_times)
        told = base.notified | domain.frontier(notified) if notified else base.notified
        return told, processed, discarded

    def processed_counts(self) -> dict[EdgeId, Any]:
        """How many messages were processed of each edge with sequence numbers."""
        counts = {edge: part[0] if part else 0 for edge, part in self.base.processed.items()}
        for time in self.records:
            counts[time.edge] = max(counts[time.edge], time.number)
        return counts

    def fixed(self, edge: EdgeId, frontier: Any) -> Any:
        """φ(e)(f) of a recorded edge; nothing happens outside ⊤, so ⊤ fixes everything (§3.2)."""
        target = self.targets[edge]
        if frontier.is_top:
            return target.edge_top
        if not isinstance(target, Structured):
            return count_frontier(self.fixed_count(edge, frontier))
        epoch = self.closed_epoch(edge, frontier)
        return target.frontier([(epoch, *(INF,) * (target.depth - 1))] if epoch >= 0 else [])

    def closed_epoch(self, edge: EdgeId, frontier: Any) -> int:
        """The last epoch that events in ``frontier`` have closed on ``edge``, or -1."""
        closed = [r.closed[edge] for r in self.inside(frontier) if edge in r.closed]
        return max([self.base.closed.get(edge, -1), *closed])

    def fixed_count(self, edge: EdgeId, frontier: Any) -> int:
        """φ(e)(f): the longest prefix of the messages on ``edge`` that events in f sent (§3.2)."""
        outside = [
            record.first[edge]
            for record in self.records.values()
            if edge in record.first and record.time not in frontier
        ]
        return min(outside, default=self.sent_count[edge] + 1) - 1


def reach(domain: Any, times: list[Any]) -> Any:
    """↓ of message times on one edge into ``domain``."""
    if isinstance(domain, Structured):
        return domain.frontier(times)
    return count_frontier(max((time.number for time in times), default=0))


def count_frontier(number: int) -> TotalFrontier:
    """The first ``number`` messages of an edge."""
    return TotalFrontier((number,)) if number else TotalFrontier()


def within(message: Message | Sent, reached: Any) -> bool:
    """Whether a message's time lies in what a frontier of its receiver says about its edge."""
    time = message.time
    return ((time.number,) if isinstance(time, SequenceNumber) else time) in reached
