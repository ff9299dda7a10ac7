"""Distributed snapshots: a coordinated cut over a region, with its messages in flight (§2.1).

Chandy and Lamport find a cut by sending markers along the channels. The machine sees all channels,
so it takes the cut at once: every processor of the region at what it has delivered so far, and on
each channel inside the region the messages that are not delivered yet. Those count as logged in the
checkpoints of their senders and the delivered ones as discarded, so the constraints hold within the
cut, and only there: after a failure the whole region goes back to its last cut.
"""

from falkirk.core.machine.events import Delivery
from falkirk.core.machine.message import Message
from falkirk.core.machine.state import State
from falkirk.core.policy import Regime
from falkirk.core.times import EdgeId, ProcessorId


def region_of(state: State, p: ProcessorId) -> list[ProcessorId]:
    """The processors that take snapshots together with ``p``."""
    region = state.flow.processors[p].policy.region
    return [
        name
        for name, processor in state.flow.processors.items()
        if processor.policy.regime is Regime.SNAPSHOT and processor.policy.region == region
    ]


def is_due(state: State, region: list[ProcessorId]) -> bool:
    """Whether the region has delivered enough since its last cut, or was appointed to take one."""
    every = max(state.flow.processors[p].policy.every for p in region)
    growth = sum(state.standing[p].growth for p in region)
    return growth >= every or any(state.standing[p].appointed for p in region)


def log_in_flight(state: State, region: list[ProcessorId]) -> None:
    """Logs the undelivered messages between processors of the region with their senders."""
    for edge in state.flow.graph.edges.values():
        if edge.source in region and edge.target in region:
            for message in undelivered(state, edge.name):
                record = state.ledgers[edge.source].records[message.cause]
                record.discarded.get(edge.name, set()).discard(message.time)
                if message not in record.sent:
                    record.sent.append(message)


def undelivered(state: State, edge: EdgeId) -> list[Message]:
    """The messages of ``edge`` that are queued or being worked on."""
    working = [
        work.item.message
        for work in state.running.values()
        if isinstance(work.item, Delivery) and work.item.message.edge == edge
    ]
    return working + state.channels.queues[edge]
