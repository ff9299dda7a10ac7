"""Back-pressure: how far an input may run ahead of those who work on what it sent."""

from falkirk.core.machine.boundary import whole_epochs
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.flow import Flow
from falkirk.core.times import ProcessorId


class Pressure:
    """Bounds the epochs of each input that are open somewhere downstream of it.

    Behind sequence numbers epochs are windows, which say nothing about those of an input: an open
    one may need many of them. There the messages that wait are bounded instead.
    """

    def __init__(self, flow: Flow, epochs_ahead: int) -> None:
        """At most ``epochs_ahead`` epochs under way."""
        self.epochs_ahead = epochs_ahead
        recorded = [edge for edge in flow.graph.edges.values() if edge.projection.recorded]
        behind = {q for edge in recorded for q in reachable(flow, edge.target)}
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

    def allows(self, machine: Machine, p: ProcessorId) -> bool:
        """Whether the input ``p`` may open another epoch."""
        epoch = machine.state.standing[p].epoch
        if epoch is None:
            return False
        standing = machine.state.standing
        if any(
            epoch - whole_epochs(standing[q].completed) > self.epochs_ahead
            for q in self._downstream[p]
        ):
            return False
        queues = machine.state.channels.queues
        return all(len(queues[edge]) < self.epochs_ahead for edge in self._queues[p])


def reachable(flow: Flow, start: ProcessorId) -> list[ProcessorId]:
    """``start`` and all processors that its messages can lead to, in a fixed order."""
    found, pending = {start: None}, [start]
    while pending:
        for edge in flow.graph.outputs(pending.pop()):
            if edge.target not in found:
                found[edge.target] = None
                pending.append(edge.target)
    return list(found)
