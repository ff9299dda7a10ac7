"""Why a processor stands where it does: root causes first, then what follows from them.

A frontier is held down by a constraint with a neighbour, whose frontier may be held down by another
one, and so on. Who stands at the newest checkpoint that it has is held down by nobody: there the
chain ends, and that is the root cause. In a loop a chain may come back to where it began; then its
members hold each other.
"""

from dataclasses import dataclass
from typing import Any

from falkirk.core.checkpoint import Chain
from falkirk.core.constraints import Violation
from falkirk.core.machine.flow import Role
from falkirk.core.rollback import Solution
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import Look
from falkirk.inspection.words import Mark, mark, until

SECTIONS = {
    "discarded-messages": "§3.5, discarded messages",
    "delivered-messages": "§3.5, delivered messages",
    "notification-projection": "§3.5, notification frontiers",
    "processed-notifications": "§3.5, processed notifications",
}
"""Where the paper has each constraint."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One constraint that holds ``processor`` down; ``by`` is the neighbour on the other end."""

    processor: str
    by: str
    edge: str | None
    constraint: str
    words: str
    section: str


@dataclass(frozen=True, slots=True)
class Root:
    """Who holds others down and is held down by nobody; ``holds`` are those others."""

    processor: str
    saved: Mark
    words: str
    location: str
    holds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Where one processor stands, and why.

    ``held`` says that it has a larger checkpoint than it may keep. ``way`` leads from it to a root.
    """

    processor: str
    stands: Mark
    saved: Mark
    policy: str
    held: bool
    causes: tuple[Cause, ...]
    roots: tuple[str, ...]
    way: tuple[str, ...]


class Causes:
    """The reasons for one solution."""

    def __init__(self, look: Look, solution: Solution | None = None) -> None:
        """Of the low-watermarks, if no ``solution`` is given."""
        self.look, self.solution = look, solution or look.solution
        self.graph = look.flow.recovery
        self.violations = {p: self.solution.why(p) for p in look.flow.processors}

    def blocker(self, violation: Violation) -> ProcessorId:
        """The neighbour that a constraint is about; itself if there is none."""
        if violation.edge is None:
            return violation.processor
        edge = self.graph.edges[violation.edge]
        return edge.target if violation.constraint == "discarded-messages" else edge.source

    def blockers(self, p: ProcessorId) -> list[ProcessorId]:
        """The neighbours that hold ``p`` down."""
        return list(dict.fromkeys(self.blocker(v) for v in self.violations[p]))

    def held(self, p: ProcessorId) -> bool:
        """Whether ``p`` has saved more than it may keep."""
        restorable = self.solution.choice.restorables[p]
        if not isinstance(restorable, Chain):
            return False
        return bool(self.solution.frontiers[p] != restorable.frontiers[-1])

    def way(self, p: ProcessorId) -> list[ProcessorId]:
        """The shortest way from ``p`` to a root, or all that it meets if there is only a circle."""
        before: dict[ProcessorId, ProcessorId | None] = {p: None}
        pending = [p]
        for q in pending:
            if not self.violations[q] and q != p:
                found: list[ProcessorId] = []
                step: ProcessorId | None = q
                while step is not None:
                    found.insert(0, step)
                    step = before[step]
                return found
            for other in self.blockers(q):
                if other not in before:
                    before[other] = q
                    pending.append(other)
        return pending

    def roots_of(self, p: ProcessorId) -> list[ProcessorId]:
        """Who in the end holds ``p`` down; those who hold each other, if there is nobody else."""
        if not self.violations[p]:
            return []
        seen = {p: None}
        pending = [p]
        for q in pending:
            for other in self.blockers(q):
                if other not in seen:
                    seen[other] = None
                    pending.append(other)
        ends = [q for q in seen if not self.violations[q]]
        return ends or [q for q in seen if q != p] or [p]

    def cause(self, violation: Violation) -> Cause:
        """A constraint in words."""
        p, by = violation.processor, self.blocker(violation)
        return Cause(
            p,
            by,
            violation.edge,
            violation.constraint,
            self.words(violation, by),
            SECTIONS[violation.constraint],
        )

    def words(self, violation: Violation, by: ProcessorId) -> str:
        """What a constraint says to somebody who has not read the paper."""
        if violation.edge is None:
            return in_words(violation, by)
        target = self.graph.edges[violation.edge].target
        return in_words(violation, by, self.look.flow.numbered(target))

    def reasoning(self, p: ProcessorId) -> Reasoning:
        """Where ``p`` stands, and why."""
        graph = self.look.flow.graph
        return Reasoning(
            p,
            mark(graph, p, self.solution.frontiers[p]),
            mark(graph, p, self.look.saved(p)),
            self.look.policy(p),
            self.held(p),
            tuple(self.cause(v) for v in self.violations[p]),
            tuple(self.roots_of(p)),
            tuple(self.way(p)) if self.violations[p] else (),
        )

    def roots(self) -> list[Root]:
        """All root causes, each with those that it holds below what they have saved."""
        holds: dict[ProcessorId, list[str]] = {}
        for p in self.look.flow.processors:
            if self.held(p):
                for root in self.roots_of(p):
                    holds.setdefault(root, []).append(p)
        return [self.root(p, held) for p, held in holds.items()]

    def root(self, p: ProcessorId, held: list[str]) -> Root:
        """A root cause in words."""
        look = self.look
        saved: Any = look.saved(p)
        role = look.flow.processors[p].role
        if self.violations[p]:
            words = "holds and is held: these stand and fall together"
        elif role is Role.INPUT:
            words = f"the input has recorded {until(saved)} and nothing later"
        elif saved.is_empty:
            words = f"no checkpoint of it is durable yet; it saves by {look.policy(p)}"
        else:
            words = f"its newest checkpoint is {until(saved)}; it saves by {look.policy(p)}"
        return Root(p, mark(look.flow.graph, p, saved), words, look.location(p), tuple(held))


def in_words(violation: Violation, by: str, numbered: bool = False) -> str:
    """A constraint with the neighbour ``by``; ``numbered`` says that its edge counts messages."""
    p = violation.processor
    if violation.edge is None:
        return f"{p} was told that times are complete which it would not keep"
    wanted, allowed = (until(each, numbered) for each in (violation.wanted, violation.allowed))
    if violation.constraint == "discarded-messages":
        return (
            f"{p} has sent up to {wanted} to {by} and kept no copy, but {by} stands at"
            f" {allowed}: what {by} lacks, {p} must make again"
        )
    if violation.constraint == "delivered-messages":
        return (
            f"{p} has used what {by} sent up to {wanted}, but {by} vouches for {allowed} only:"
            " the rest may come out differently"
        )
    return (
        f"{p} was told that {wanted} is complete, but {by} vouches for {allowed} only: more may"
        " still come"
    )
