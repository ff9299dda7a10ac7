"""The history of a processor, and everything that a checkpoint must know of it (§3.4, Figure 4).

Rolling back to f makes it look as if exactly the events with times in f had happened, so a history
has one operation, H@f, and whatever a checkpoint stores is read off the result. A running system
keeps no history (§3.4: "In general we don't have access to H(p)"); this one is the definition that
a system's bookkeeping is held against, and what the full-history policy of §4.1 replays.

Deviates: a message is supposed to be sent whenever the event that caused it happens, as in "all the
processors we have studied" (§3.4), so Π_e(H@f) is a subsequence of Π_e(H).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.domain import Domain, Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.frontier import SequenceFrontier, TotalFrontier
from falkirk.core.graph import Edge, Graph
from falkirk.core.times import EdgeId, ProcessorId


@dataclass(frozen=True, slots=True)
class Message:
    """A sent message; ``time`` is in the domain of its receiver."""

    edge: EdgeId
    time: Any
    logged: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """The delivery of a message on ``edge``, or of a notification where there is none (§2).

    ``time`` is in the domain of the processor; ``sent`` are the messages that the event caused.
    """

    time: Any
    edge: EdgeId | None = None
    sent: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """H(p): the events that ``processor`` has processed, earliest first.

    >>> from falkirk.core.domain import EPOCH
    >>> from falkirk.core.projection import Identity
    >>> epochs = Identity(EPOCH, EPOCH)
    >>> g = Graph(dict.fromkeys("apb", EPOCH), [Edge("d", "a", "p", epochs),
    ...                                         Edge("e", "p", "b", epochs)])
    >>> h = History(g, "p", (Event((2,), "d", (Message("e", (2,)),)), Event((1,), "d"),
    ...                      Event((1,), None, (Message("e", (1,), logged=True),))))
    >>> f = EPOCH.frontier([(1,)])
    >>> [event.time for event in h.at(f).events]
    [(1,), (1,)]
    >>> h.at(f).logged("e"), h.at(f).discarded("e")
    ((Message(edge='e', time=(1,), logged=True),), ())
    >>> h.checkpoint(f).discarded, h.checkpoint(EPOCH.top).discarded
    ({'e': ∅}, {'e': ↓(2)})
    """

    graph: Graph
    processor: ProcessorId
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        """Refuses events on edges that the processor does not have."""
        inputs = {edge.name for edge in self.graph.inputs(self.processor)}
        outputs = {edge.name for edge in self.graph.outputs(self.processor)}
        for event in self.events:
            if event.edge is not None and event.edge not in inputs:
                raise DefinitionError(f"{event.edge!r} is not an input edge of {self.processor!r}")
            for message in event.sent:
                if message.edge not in outputs:
                    raise DefinitionError(
                        f"{message.edge!r} is not an output edge of {self.processor!r}"
                    )

    def at(self, frontier: Any) -> "History":
        """H@f: the subsequence of the events with times in ``frontier``."""
        return replace(self, events=tuple(e for e in self.events if e.time in frontier))

    # The sequences of §3.4, of this history as it is: filter it first.

    def sent(self, edge: EdgeId) -> tuple[Message, ...]:
        """Π_e: the messages that the events caused on ``edge``, in the order of sending."""
        return tuple(m for event in self.events for m in event.sent if m.edge == edge)

    def logged(self, edge: EdgeId) -> tuple[Message, ...]:
        """L(e): the sent messages that were logged."""
        return tuple(m for m in self.sent(edge) if m.logged)

    def discarded(self, edge: EdgeId) -> tuple[Message, ...]:
        """D(e): the sent messages that were not logged."""
        return tuple(m for m in self.sent(edge) if not m.logged)

    def delivered(self, edge: EdgeId) -> tuple[Any, ...]:
        """M(d): the times of the messages that were processed from ``edge``."""
        return tuple(event.time for event in self.events if event.edge == edge)

    def notifications(self) -> tuple[Any, ...]:
        """N(p): the times of the processed notifications."""
        return tuple(event.time for event in self.events if event.edge is None)

    # What recovery asks.

    def checkpoint(
        self, frontier: Any, projected: Mapping[EdgeId, Any] | None = None
    ) -> Checkpoint:
        """Ξ(p, f): the smallest frontiers N̄, M̄ and D̄ that contain what happened in ``frontier``.

        φ of a recorded edge into sequence numbers is known from the history; that of any other
        recorded edge must be given in ``projected``.
        """
        past, domains = self.at(frontier), self.graph.domains
        outputs = self.graph.outputs(self.processor)
        domain = domains[self.processor]
        return Checkpoint(
            frontier,
            closure(domain, past.notifications()),
            {
                d.name: domain.part(closure(domain, past.delivered(d.name)), d.name)
                for d in self.graph.inputs(self.processor)
            },
            {
                e.name: self._on(e, (message.time for message in past.discarded(e.name)))
                for e in outputs
            },
            {
                **{
                    e.name: self._fixed(e, frontier)
                    for e in outputs
                    if e.projection.recorded and not isinstance(domains[e.target], Structured)
                },
                **(projected or {}),
            },
        )

    def resent(self, edge: EdgeId, frontier: Any, kept: Any) -> tuple[Message, ...]:
        """Q'(e): what is sent again when this processor rolls back to ``frontier`` (§3.6).

        It is what was logged in ``frontier`` and lies outside ``kept``, the frontier of the
        receiver.
        """
        return tuple(m for m in self.at(frontier).logged(edge) if m.time not in kept)

    def _on(self, edge: Edge, times: Iterable[Any]) -> Any:
        """↓ of message times on an output edge, in its receiver's domain."""
        domain = self.graph.domains[edge.target]
        return domain.part(closure(domain, times), edge.name)

    def _fixed(self, edge: Edge, frontier: Any) -> TotalFrontier:
        """The numbers on ``edge`` below any that an event outside ``frontier`` caused (§3.2)."""
        fixed = 0
        for event in self.events:
            numbers = [m.time.number for m in event.sent if m.edge == edge.name]
            if numbers and event.time not in frontier:
                break
            fixed = max([fixed, *numbers])
        return TotalFrontier((fixed,)) if fixed else TotalFrontier()


def closure(domain: Domain, times: Iterable[Any]) -> Any:
    """↓T: the smallest frontier of ``domain`` that contains ``times`` (§3.1).

    >>> from falkirk.core.domain import EPOCH, Sequence
    >>> from falkirk.core.times import SequenceNumber
    >>> closure(EPOCH, [(1,), (3,)])
    ↓(3)
    >>> closure(Sequence(), [SequenceNumber("e1", 2), SequenceNumber("e2", 1)])
    {e1: 2, e2: 1}
    """
    if isinstance(domain, Structured):
        return domain.frontier(times)
    counts: dict[EdgeId, Any] = {}
    for edge, number in times:
        counts[edge] = max(number, counts.get(edge, 0))
    return SequenceFrontier(counts)
