"""Everything that the machine knows: one value, changed only by steps."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.checkpoint import AnyFrontier
from falkirk.core.domain import Structured
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.machine.boundary import boundary, whole_epochs
from falkirk.core.machine.channels import Channels
from falkirk.core.machine.events import Again, Persist, Work
from falkirk.core.machine.flow import Batch, Flow
from falkirk.core.machine.ledger import Ledger, within
from falkirk.core.machine.message import Message
from falkirk.core.machine.progress import Pointstamp, Progress
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.monitor import Monitor
from falkirk.core.times import EdgeId, ProcessorId, SequenceNumber, Time

Gather = Callable[[tuple[Batch, ...]], Batch]
"""Makes one batch of all that an output staged at one time, for a version input to take."""


def as_they_are(batches: tuple[Batch, ...]) -> Batch:
    """Several batches as one, where batches are plain tuples."""
    return batches


@dataclass(slots=True)
class Ticket:
    """A checkpoint on its way to the store."""

    effect: Persist
    durable: bool = False


@dataclass(slots=True)
class Standing:
    """How one processor stands.

    ``completed`` is what was complete when last looked at, ``saved`` the largest frontier for which
    a checkpoint was asked, ``growth`` how often completion grew since. ``held`` are sends that wait
    for durability. ``epoch`` is the open epoch of an input, None once it has ended. ``restoring``
    is the history that is being replayed, ``resend`` what the receivers then lack on each edge.
    ``windows`` has the open epoch of each edge from sequence numbers to epochs. ``appointed`` says
    that a checkpoint is to be taken of what was processed just now. Of an output, ``released`` has
    the times that it has shown, with the number of batches, and ``delivered`` those that are taken.
    """

    completed: Any
    saved: Any
    growth: int = 0
    saved_at: float = 0.0
    incarnation: int = 0
    requests: set[Any] = field(default_factory=set)
    tickets: deque[Ticket] = field(default_factory=deque)
    held: list[Message] = field(default_factory=list)
    epoch: int | None = None
    released: dict[Any, int] = field(default_factory=dict)
    delivered: set[Any] = field(default_factory=set)
    restoring: deque[Again] = field(default_factory=deque)
    replaying: frozenset[Any] = frozenset()
    resend: dict[EdgeId, Any] = field(default_factory=dict)
    windows: dict[EdgeId, int] = field(default_factory=dict)
    appointed: bool = False


class State:
    """The machine's state, and the questions that steps ask of it."""

    def __init__(
        self, flow: Flow, rules: Rules = ALL_RULES, monitor: Monitor | None = None
    ) -> None:
        """A flow in which nothing has happened; ``monitor`` may know of more."""
        self.flow, self.rules = flow, rules
        graph = flow.graph
        self.progress = Progress(graph.domains, flow.summaries)
        self.channels = Channels({edge.name: edge.target for edge in graph.edges.values()})
        self.ledgers = {p: Ledger.of(graph, p) for p in flow.processors}
        self.standing = {
            p: Standing(domain.empty, domain.empty) for p, domain in graph.domains.items()
        }
        for edge in flow.windows():
            self.standing[graph.edges[edge].source].windows[edge] = 0
        self.versions: dict[ProcessorId, dict[Any, tuple[Batch, ...]]] = {
            p: {} for p in flow.latest
        }
        self.monitor = monitor or self.new_monitor()
        self.kept: dict[ProcessorId, Any] = {}
        self.shown: dict[ProcessorId, Any] = {}
        self.running: dict[int, Work] = {}
        self.suspected: set[ProcessorId] = set()
        self.tickets: dict[int, Ticket] = {}
        self.cuts: dict[ProcessorId, list[int]] = {}
        self.markers: dict[EdgeId, list[int]] = {edge: [] for edge in flow.marked()}
        self.next_number = 0
        self.gather: Gather = as_they_are
        self.horizon = -1
        self.now = 0.0

    def new_monitor(self) -> Monitor:
        """A monitor to which nothing was announced."""
        domains = self.flow.graph.domains
        stateless = {
            p: AnyFrontier(domains[p].empty)
            for p in self.flow.processors
            if self.flow.restores_anywhere(p)
        }
        return Monitor(self.flow.recovery, stateless)

    def collectable(self, p: ProcessorId) -> Any:
        """What of ``p`` may be collected and acknowledged: its low-watermark, as far as pins go."""
        watermark = self.monitor.watermark(p)
        return watermark & self.kept[p] if p in self.kept else watermark

    def showable(self, p: ProcessorId) -> Any:
        """What an output may show for good: its low-watermark, as far as pins that hold it go."""
        watermark = self.monitor.watermark(p)
        return watermark & self.shown[p] if p in self.shown else watermark

    def number(self) -> int:
        """A fresh number for a message, a piece of work or a ticket."""
        self.next_number += 1
        return self.next_number

    def see(self, time: Any) -> None:
        """Remembers the largest epoch that occurred anywhere."""
        if not isinstance(time, SequenceNumber) and time[0] > self.horizon:
            self.horizon = time[0]
            self.progress.stale.update(self.standing)

    def cut(self, p: ProcessorId, epochs: list[int]) -> None:
        """Remembers boundaries for those who save by the clock, until they have saved them."""
        scale = self.flow.scale[p]
        clocked = [q for q in self.flow.clocked if self.flow.scale[q] == scale]
        if epochs and clocked:
            least = min(whole_epochs(self.standing[q].saved) for q in clocked)
            known = {*self.cuts.get(scale, ()), *epochs}
            self.cuts[scale] = sorted(epoch for epoch in known if epoch > least)
            self.progress.stale.update(clocked)

    def completed(self, p: ProcessorId) -> Any:
        """The completed times of ``p``, up to the largest epoch that ever occurred."""
        domain = self.flow.graph.domains[p]
        if isinstance(domain, Structured):
            if self.horizon < 0:
                return domain.empty
            seen = boundary(domain, self.horizon)
            if not self.rules.only_completed:
                return seen
            return self.progress.completed(p) & seen
        return SequenceFrontier(self.ledgers[p].processed_counts())

    def pointstamps(self) -> list[Pointstamp]:
        """Everything that can still cause an event, counted from scratch."""
        graph = self.flow.graph
        found: list[tuple[ProcessorId, Any]] = []
        for p, standing in self.standing.items():
            if standing.epoch is not None:
                found.append((p, (standing.epoch,)))
            found += [(p, time) for time in standing.requests]
            found += [(graph.edges[m.edge].target, m.time) for m in standing.held]
            found += [(p, time) for time in standing.replaying]
            found += self.owed(p)
            found += [
                (graph.edges[edge].target, self.window_time(edge, epoch))
                for edge, epoch in standing.windows.items()
            ]
        for edge, queue in self.channels.queues.items():
            found += [(graph.edges[edge].target, message.time) for message in queue]
        found += [(work.processor, work.time) for work in self.running.values()]
        return [(p, time) for p, time in found if not self.flow.numbered(p)]

    def owed(self, p: ProcessorId) -> list[tuple[ProcessorId, Any]]:
        """The messages that a replay will send again, as pointstamps of their receivers."""
        standing, edges = self.standing[p], self.flow.graph.edges
        if not standing.replaying or not standing.resend:
            return []
        return [
            (edges[sent.edge].target, sent.time)
            for record in self.ledgers[p].records.values()
            for past in record.delivered
            for sent in past.sent
            if sent.edge in standing.resend and not within(sent, standing.resend[sent.edge])
        ]

    def window_time(self, edge: EdgeId, epoch: int) -> Time:
        """The least time of an epoch at the receiver of ``edge``."""
        domain = self.flow.processors[self.flow.graph.edges[edge].target].domain
        assert isinstance(domain, Structured), "windows lead to structured times"
        return (epoch, *(0,) * (domain.depth - 1))

    def recount(self) -> None:
        """Counts progress anew, after a rollback or a replay."""
        pointstamps = self.pointstamps()
        for _, time in pointstamps:
            self.see(time)
        self.progress.rebuild(pointstamps)

    def count(self, p: ProcessorId, time: Time) -> None:
        """Counts a pointstamp where times have progress; others progress by working."""
        if not self.flow.numbered(p):
            self.progress.add(p, time)

    def uncount(self, p: ProcessorId, time: Time) -> None:
        """Takes back what :meth:`count` counted."""
        if not self.flow.numbered(p):
            self.progress.remove(p, time)
        else:
            self.progress.stale.add(p)

    def is_output(self, p: ProcessorId) -> bool:
        """Whether ``p`` hands its state to the outside."""
        return p in self.flow.output_ones
