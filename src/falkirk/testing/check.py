"""What must hold inside: the constraints of §3.5, and watermarks that only rise.

Every rollback satisfies every constraint by what really happened, not by what the monitor was told.
What the outside must see is in :mod:`~falkirk.testing.outside`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Checkpoint
from falkirk.core.constraints import CONSTRAINTS, Choice, violations
from falkirk.core.graph import Edge
from falkirk.core.machine.events import Delivery, Notification, RolledBack
from falkirk.core.machine.ledger import Ledger, reach
from falkirk.core.machine.state import State
from falkirk.core.rollback import solve
from falkirk.core.times import ProcessorId
from falkirk.testing.world import Scenario, Violation, World


@dataclass(slots=True)
class Complaints:
    """The inner laws that were broken; when ``strict``, the first one ends the run."""

    strict: bool
    found: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> None:
        """An inner law was broken."""
        if self.strict:
            raise Violation(text)
        self.found.append(text)


class Guard:
    """Follows a run from inside, and complains."""

    def __init__(self, scenario: Scenario, world: World, complain: Complaints) -> None:
        """Nothing has happened; ``complain`` is told of every law that is broken."""
        self.flow, self.tainted, self.complain = scenario.flow, world.tainted, complain
        self.inputs = scenario.inputs
        self.watermarks: dict[ProcessorId, Any] = {}
        self.saved: dict[ProcessorId, Any] = {}
        self.chained = self.flow.processors.keys() - self.flow.anywhere

    def delivery(self, state: State, item: Delivery) -> None:
        """No message comes at a time of which its receiver was told that there would be none.

        And none from, or to, a processor that may have failed.
        """
        p, message = item.processor, item.message
        if not state.suspected.isdisjoint((p, self.flow.graph.edges[message.edge].source)):
            self.complain(f"{p} gets a message on {message.edge} from or as a suspect")
        if self.flow.numbered(p) or p in self.tainted:
            return
        if state.ledgers[p].was_notified(message.time):
            self.complain(
                f"{p} gets a message on {message.edge} at {message.time} after a notification of"
                " that time"
            )

    def position(self, p: ProcessorId, epoch: int, position: Any) -> None:
        """An input that begins an epoch knows where in its source the ones before have ended."""
        earlier = [e for e, batches in enumerate(self.inputs[p][:epoch]) if batches]
        expected = [earlier[-1], 0] if earlier else None
        if position != expected:
            self.complain(f"{p} begins epoch {epoch} at {position}, and it ended at {expected}")

    def watch(self, state: State) -> None:
        """No low-watermark goes back."""
        before, chained = self.watermarks, self.chained
        for p, watermark in state.monitor.watermarks():
            old = before.get(p)
            if watermark is old or p not in chained:
                continue
            if old is not None and not old <= watermark:
                self.complain(f"the low-watermark of {p} fell from {old!r} to {watermark!r}")
            before[p] = watermark

    def before_failure(self, state: State) -> None:
        """Remembers the checkpoints there are, for the step that rolls back may take new ones."""
        self.saved = {
            p: standing.completed if p in state.flow.anywhere else standing.saved
            for p, standing in state.standing.items()
        }

    def rollback(self, state: State, effect: RolledBack) -> None:
        """A rollback is consistent, takes ⊤ from who failed, and stays above the watermarks."""
        for p, frontier in effect.frontiers.items():
            if p in effect.failed and frontier.is_top:
                self.complain(f"{p} has failed and keeps ⊤")
            if p in self.watermarks and not self.watermarks[p] <= frontier:
                low = self.watermarks[p]
                self.complain(f"{p} goes back to {frontier!r}, below its low-watermark {low!r}")
        for found in inconsistencies(state, effect.frontiers, self.saved):
            self.complain(found)

    def finish(self, state: State) -> None:
        """At the end the low-watermarks are what the solver finds, and so satisfy all constraints.

        The monitor keeps them up step by step; the solver starts from the checkpoints alone.
        """
        monitor = state.monitor
        choice = monitor.choice()
        for found in violations(choice):
            self.complain(f"inconsistent low-watermarks: {found.because}")
        for p, best in solve(monitor.graph, monitor.restorables).frontiers.items():
            if choice.frontiers[p] != best:
                self.complain(
                    f"the low-watermark of {p} is {choice.frontiers[p]!r}, and {best!r} by the"
                    " same checkpoints from scratch"
                )


def inconsistencies(
    state: State, frontiers: Mapping[ProcessorId, Any], saved: Mapping[ProcessorId, Any]
) -> Iterator[str]:
    """Where ``frontiers``, to which ``state`` has just been rolled back, break a constraint.

    ``saved`` are the checkpoints of before.
    """
    flow = state.flow
    for edge in flow.graph.edges.values():
        if flow.processors[edge.target].policy.tainted:
            continue  # it may see again what it has seen
        frontier = frontiers[edge.target]
        for message in state.channels.queues[edge.name]:
            if not frontier.is_top and message.time in frontier:
                yield (
                    f"undelivered-messages: {edge.target} went back to {frontier!r}, and a message"
                    f" at {message.time} waits on {edge.name}"
                )
    for found in violations(truth(state, frontiers, saved), CONSTRAINTS[1:]):
        yield f"{found.constraint}: {found.because}"


@dataclass(frozen=True, slots=True)
class Truth(Choice):
    """A choice of frontiers with the metadata of what really happened, from the ledgers."""

    happened: Mapping[ProcessorId, Checkpoint]
    ledgers: Mapping[ProcessorId, Ledger]

    def notified(self, p: ProcessorId) -> Any:
        """N̄(p, f(p))."""
        if p in self.happened:
            return self.happened[p].notified
        return Choice.notified(self, p)

    def processed(self, edge: Edge) -> Any:
        """M̄(d, f(dst(d)))."""
        if edge.target in self.happened:
            return self.happened[edge.target].processed[edge.name]
        return Choice.processed(self, edge)

    def discarded(self, edge: Edge) -> Any:
        """D̄(e, f(src(e)))."""
        if edge.source in self.happened:
            return self.happened[edge.source].discarded[edge.name]
        return Choice.discarded(self, edge)

    def projected(self, edge: Edge, frontier: Any) -> Any:
        """φ(e)(frontier)."""
        if not edge.projection.recorded:
            return edge.projection.phi(frontier)
        return self.ledgers[edge.source].metadata(frontier).projected[edge.name]


def truth(
    state: State, frontiers: Mapping[ProcessorId, Any], saved: Mapping[ProcessorId, Any]
) -> Truth:
    """The choice that ``state`` was rolled back to, with the largest notification frontiers."""
    flow, graph = state.flow, state.flow.recovery
    happened = {
        p: happened_inside(state, p, frontier, saved[p] if frontier.is_top else frontier)
        for p, frontier in frontiers.items()
        if frontier.is_top or not flow.restores_anywhere(p)
    }
    anywhere = {
        p: AnyFrontier(frontiers[p], not frontiers[p].is_top, given.notifies, given.logs)
        for p, given in state.monitor.restorables.items()
        if isinstance(given, AnyFrontier)
    }
    notifications = dict(frontiers)
    choice = Truth(graph, anywhere, frontiers, notifications, happened, state.ledgers)
    changed = True
    while changed:
        changed = False
        for p, domain in graph.domains.items():
            best = notifications[p]
            for edge in graph.inputs(p):
                fixed = choice.projected(edge, notifications[edge.source])
                best = domain.limited(best, edge.name, fixed)
            if best != notifications[p]:
                notifications[p], changed = best, True
    return choice


def happened_inside(state: State, p: ProcessorId, frontier: Any, told: Any) -> Checkpoint:
    """Ξ(p, f) from what ``p`` still holds, and what it is working on.

    A checkpoint says that its times are complete, as a notification does: they are ``told``.
    """
    flow, ledger, domain = state.flow, state.ledgers[p], state.flow.graph.domains[p]
    if flow.processors[p].policy.tainted:
        return Checkpoint(
            frontier,
            domain.empty,
            {d.name: domain.edge_empty for d in ledger.inputs},
            {e.name: ledger.targets[e.name].edge_empty for e in ledger.outputs},
        )
    found = ledger.metadata(frontier, None if flow.numbered(p) else told)
    processed, discarded, notified = dict(found.processed), found.discarded, found.notified
    if flow.restores_anywhere(p):  # it has no books of what it has completed
        processed = {d: taken | told for d, taken in processed.items()}
        discarded = {e.name: discarded[e.name] | e.projection.image(told) for e in ledger.outputs}
    for work in state.running.values():
        if work.processor != p:
            continue
        if isinstance(work.item, Delivery):
            edge = work.item.message.edge
            processed[edge] = processed[edge] | reach(domain, [work.time])
        elif isinstance(work.item, Notification):
            notified = notified | reach(domain, [work.time])
    return Checkpoint(frontier, notified, processed, discarded, found.projected)
