"""The constraints on a consistent rollback, one named predicate each (§3.5).

Each takes a :class:`Choice`, a frontier and a notification frontier for every processor together
with the metadata that goes with them, and yields a :class:`Violation` for every place where it
fails. A choice is consistent when none fails. The solver does not call these: it maintains the same
comparisons incrementally, and the tests hold the two against each other. Explanations are built
here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Restorable
from falkirk.core.graph import Edge, Graph
from falkirk.core.times import EdgeId, ProcessorId


@dataclass(frozen=True, slots=True)
class Violation:
    """Why ``processor`` may not have its frontier.

    ``wanted`` ⊆ ``allowed`` is what fails, both as seen from the edge.
    """

    constraint: str
    processor: ProcessorId
    edge: EdgeId | None
    because: str
    wanted: Any = field(default=None, compare=False, repr=False)
    allowed: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """A frontier f(p) and a notification frontier f_n(p) for every processor."""

    graph: Graph
    restorables: Mapping[ProcessorId, Restorable]
    frontiers: Mapping[ProcessorId, Any]
    notifications: Mapping[ProcessorId, Any]

    def notified(self, p: ProcessorId) -> Any:
        """N̄(p, f(p))."""
        restorable = self.restorables[p]
        frontier = self.frontiers[p]
        if isinstance(restorable, Chain):
            return restorable.notified[restorable.frontiers.index(frontier)]
        domain, done = self.graph.domains[p], restorable.done(frontier)
        if done is not None and restorable.notifies and domain.whole:
            return done.notified
        return frontier if restorable.notifies and domain.whole else domain.empty

    def processed(self, edge: Edge) -> Any:
        """M̄(d, f(dst(d)))."""
        restorable = self.restorables[edge.target]
        frontier = self.frontiers[edge.target]
        if isinstance(restorable, Chain):
            return restorable.processed[edge.name][restorable.frontiers.index(frontier)]
        done = restorable.done(frontier)
        return done.processed[edge.name] if done else self.part(edge, frontier)

    def discarded(self, edge: Edge) -> Any:
        """D̄(e, f(src(e)))."""
        restorable = self.restorables[edge.source]
        frontier = self.frontiers[edge.source]
        if isinstance(restorable, Chain):
            return restorable.discarded[edge.name][restorable.frontiers.index(frontier)]
        done = restorable.done(frontier)
        if done is not None:
            return done.discarded[edge.name]
        if edge.name in restorable.logs:
            return self.graph.domains[edge.target].edge_empty
        return edge.projection.image(frontier)

    def projected(self, edge: Edge, frontier: Any) -> Any:
        """φ(e)(frontier)."""
        if not edge.projection.recorded:
            return edge.projection.phi(frontier)
        chain = self.restorables[edge.source]
        assert isinstance(chain, Chain), "a recorded projection belongs to a chain of checkpoints"
        inside = chain.largest_inside(frontier)
        if inside < 0:
            return self.graph.domains[edge.target].edge_empty
        return chain.projected[edge.name][inside]

    def part(self, edge: Edge, frontier: Any) -> Any:
        """What a frontier of the edge's target says about the edge."""
        return self.graph.domains[edge.target].part(frontier, edge.name)


Constraint = Callable[[Choice, ProcessorId], Iterator[Violation]]


def undelivered_messages(choice: Choice, p: ProcessorId) -> Iterator[Violation]:
    """No message awaits delivery with a time inside the frontier that p restores to (§3.5, first).

    Saved checkpoints satisfy it because they are taken of completed times only; a stateless
    processor restores inside what was completely delivered. At ⊤ nothing is restored.
    """
    restorable, frontier = choice.restorables[p], choice.frontiers[p]
    if isinstance(restorable, Chain):
        return
    keeps_all = frontier.is_top and not restorable.failed
    if not keeps_all and not frontier <= restorable.complete:
        because = f"{frontier!r} ⊄ {restorable.complete!r}, what was completely delivered to {p}"
        yield Violation("undelivered-messages", p, None, because)


def discarded_messages(choice: Choice, p: ProcessorId) -> Iterator[Violation]:
    """∀e ∈ Out(p): D̄(e, f(p)) ⊆ f(dst(e)) (§3.5, second)."""
    for edge in choice.graph.outputs(p):
        sent = choice.discarded(edge)
        kept = choice.part(edge, choice.frontiers[edge.target])
        if not sent <= kept:
            because = (
                f"{p} discarded messages up to {sent!r}, but {edge.target} keeps only {kept!r}"
            )
            yield Violation("discarded-messages", p, edge.name, because, sent, kept)


def delivered_messages(choice: Choice, p: ProcessorId) -> Iterator[Violation]:
    """∀d ∈ In(p): M̄(d, f(p)) ⊆ φ(d)(f(src(d))) (§3.5, third)."""
    for edge in choice.graph.inputs(p):
        taken = choice.processed(edge)
        fixed = choice.projected(edge, choice.frontiers[edge.source])
        if not taken <= fixed:
            because = (
                f"{p} processed messages up to {taken!r}, but {edge.source} fixes only {fixed!r}"
            )
            yield Violation("delivered-messages", p, edge.name, because, taken, fixed)


def notification_within_frontier(choice: Choice, p: ProcessorId) -> Iterator[Violation]:
    """f_n(p) ⊆ f(p) (§3.5, fourth)."""
    notification, frontier = choice.notifications[p], choice.frontiers[p]
    if not notification <= frontier:
        because = f"notification frontier {notification!r} ⊄ frontier {frontier!r}"
        yield Violation("notification-within-frontier", p, None, because)


def processed_notifications(choice: Choice, p: ProcessorId) -> Iterator[Violation]:
    """N̄(p, f(p)) ⊆ f_n(p) (§3.5, fifth)."""
    notified, notification = choice.notified(p), choice.notifications[p]
    if not notified <= notification:
        because = f"notified up to {notified!r}, but the notification frontier is {notification!r}"
        yield Violation("processed-notifications", p, None, because)


def notification_projection(choice: Choice, p: ProcessorId) -> Iterator[Violation]:
    """∀d ∈ In(p): f_n(p) ⊆ φ(d)(f_n(src(d))) (§3.5, sixth)."""
    for edge in choice.graph.inputs(p):
        mine = choice.part(edge, choice.notifications[p])
        fixed = choice.projected(edge, choice.notifications[edge.source])
        if not mine <= fixed:
            because = f"notification frontier {mine!r}, but {edge.source} fixes only {fixed!r}"
            yield Violation("notification-projection", p, edge.name, because)


CONSTRAINTS: tuple[Constraint, ...] = (
    undelivered_messages,
    discarded_messages,
    delivered_messages,
    notification_within_frontier,
    processed_notifications,
    notification_projection,
)


def violations(
    choice: Choice, constraints: tuple[Constraint, ...] = CONSTRAINTS
) -> list[Violation]:
    """Every place where ``choice`` is inconsistent."""
    return [
        violation
        for p in choice.graph.domains
        for constraint in constraints
        for violation in constraint(choice, p)
    ]


def largest(restorable: Restorable, domain_top: Any) -> Any:
    """max F*(p): what p keeps if no neighbour objects."""
    if isinstance(restorable, AnyFrontier):
        return restorable.complete if restorable.failed else domain_top
    return restorable.frontiers[-1]
