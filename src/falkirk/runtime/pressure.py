"""Back-pressure: how far an input may run ahead of those who work on what it sent."""

from collections.abc import Callable, Mapping, Set
from typing import Any

from falkirk.core.machine.boundary import whole_epochs
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.machine.releasing import is_prompt
from falkirk.core.times import ProcessorId

Answering = Mapping[ProcessorId, Set[ProcessorId]]
"""The sinks that answer sources."""


class Pressure:
    """Bounds the epochs of each input that are open somewhere downstream of it.

    Behind sequence numbers epochs are windows, which say nothing about those of an input: an open
    one may need many of them. There the messages that wait are bounded instead.

    Where a sink answers an input, what comes while those with state work on an epoch gathers for
    the next one. They take epochs one after the other, so it would not be answered sooner, and an
    epoch of many requests costs what one of a single request does.

    What comes to an input that takes all there is gathers, too, until the first of its outputs is
    done with the epoch before; a slow part of the flow does not hold a fast one back.
    """

    def __init__(
        self,
        flow: Flow,
        epochs_ahead: int,
        answering: Answering | None = None,
        gathering: Set[ProcessorId] = frozenset(),
        side_by_side: Callable[[], int] = lambda: 1,
    ) -> None:
        """At most ``epochs_ahead`` epochs under way; for ``answering`` see `Blueprint`.

        Of inputs that are ``gathering``, ``side_by_side`` before the first output.
        """
        self.epochs_ahead, self.side_by_side = epochs_ahead, side_by_side
        behind = behind_numbers(flow)
        self._downstream = {
            p: [q for q in reachable(flow, p) if q not in behind] for p in flow.processors
        }
        self._queues = {
            p: [
                edge.name
                for q in reachable(flow, p)
                if q in behind
                for edge in flow.graph.inputs(q)
            ]
            for p in flow.processors
        }
        outputs = {
            q
            for q, processor in flow.processors.items()
            if processor.role is Role.OUTPUT and q not in flow.latest
        }
        reached = {p: outputs.intersection(reachable(flow, p)) for p in flow.processors}
        self._outputs = {p: found - behind for p, found in reached.items()}
        self._in_turn = {
            p: [q for q in leading_to(flow, p, sinks) if q not in behind and in_turn(flow, q)]
            for p, sinks in (answering or {}).items()
        }
        self._gathering = {p for p in gathering - {*(answering or ())} if self._outputs[p]}
        needed = {**reached, **(answering or {})}
        self._untold = {p for p, found in needed.items() if found & behind}

    def allows(self, machine: Machine, p: ProcessorId) -> bool:
        """Whether the input ``p`` may open another epoch."""
        epoch = machine.state.standing[p].epoch
        if epoch is None:
            return False
        standing = machine.state.standing
        if any(whole_epochs(standing[q].completed) < epoch - 1 for q in self._in_turn.get(p, ())):
            return False
        if p in self._gathering:
            shown = max(whole_epochs(standing[q].completed) for q in self._outputs[p])
            if epoch - shown > 1 and epoch - shown > self.side_by_side():
                return False
        queues = machine.state.channels.queues
        if any(len(queues[edge]) >= self.epochs_ahead for edge in self._queues[p]):
            return False
        # It is asked at each turn of the driver's loop, and this goes through everybody: last.
        return bool(epoch - self.completed(machine, p) <= self.epochs_ahead)

    def completed(self, machine: Machine, p: ProcessorId) -> Any:
        """The last epoch of the input ``p`` that everybody downstream has completed, or -1."""
        standing = machine.state.standing
        return min(whole_epochs(standing[q].completed) for q in self._downstream[p])

    def reached(self, machine: Machine, p: ProcessorId) -> Any:
        """The last epoch of ``p`` that anybody downstream has completed, or -1."""
        standing = machine.state.standing
        return max(whole_epochs(standing[q].completed) for q in self._downstream[p])

    def settled(self, machine: Machine, p: ProcessorId) -> Any:
        """The last epoch of ``p`` that the sinks have all of, or -1.

        Behind sequence numbers nobody can say which epoch of the input a row of an output is from.
        """
        if p in self._untold:
            return -1
        state, last = machine.state, self.completed(machine, p)
        for q in self._outputs[p]:
            prompt, delivered = is_prompt(state, q), state.standing[q].delivered
            for time, record in state.ledgers[q].records.items():
                if record.state if prompt else time not in delivered:
                    last = min(last, time[0] - 1)
        return last


def behind_numbers(flow: Flow) -> set[ProcessorId]:
    """Where epochs, if there are any, are not those of an input: behind what is counted."""
    recorded = [edge for edge in flow.graph.edges.values() if edge.projection.recorded]
    return {q for edge in recorded for q in reachable(flow, edge.target)}


def in_turn(flow: Flow, p: ProcessorId) -> bool:
    """Whether ``p`` has state and passes rows on, so that it takes epochs one after the other."""
    processor = flow.processors[p]
    return processor.role is Role.INNER and not processor.policy.stateless


def leading_to(flow: Flow, start: ProcessorId, ends: Set[ProcessorId]) -> list[ProcessorId]:
    """The processors on the ways from ``start`` to some of ``ends``, in a fixed order."""
    return [q for q in reachable(flow, start) if not ends.isdisjoint(reachable(flow, q))]


def reachable(flow: Flow, start: ProcessorId) -> list[ProcessorId]:
    """``start`` and all processors that its messages can lead to, in a fixed order."""
    found, pending = {start: None}, [start]
    while pending:
        for edge in flow.graph.outputs(pending.pop()):
            if edge.target not in found:
                found[edge.target] = None
                pending.append(edge.target)
    return list(found)
