"""What a rollback does to everyone: kept, undone, sent again. Read off the solver's answer.

Nothing here decides anything. A problem file says what each processor had done, in the ⊤ entry that
even a failed processor may list; the solver says what each keeps; the rest is subtraction.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Restorable
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.graph import Edge, Graph
from falkirk.core.problem import read_problem
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import EdgeId, ProcessorId


class Fate(Enum):
    """What becomes of the events of one processor at one time."""

    KEPT = "kept"
    UNDONE = "undone"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class Resend:
    """Messages that the source of ``edge`` sends again from its log: Q'(e) of §3.6.

    Their times lie in ``sent`` and outside ``settled``, what the receiver keeps or the sender
    discarded; both are in the receiver's domain, cut to the edge.
    """

    edge: Edge
    sent: Any
    settled: Any

    def __contains__(self, time: Any) -> bool:
        return time in self.sent and time not in self.settled


@dataclass(frozen=True, slots=True)
class Outcome:
    """A problem, the solver's answer, and what the file says had happened before the failure."""

    graph: Graph
    solution: Solution
    restorables: dict[ProcessorId, Restorable]
    before: dict[ProcessorId, Restorable]
    failed: frozenset[ProcessorId]

    @classmethod
    def of(cls, text: str) -> "Outcome":
        """The outcome of the problem that ``text`` describes."""
        graph, restorables = read_problem(text)
        document = json.loads(text)
        failed = {p for p, body in document["processors"].items() if body.pop("failed", False)}
        _, before = read_problem(json.dumps(document))
        return cls(graph, solve(graph, restorables), restorables, before, frozenset(failed))

    def frontier(self, p: ProcessorId) -> Any:
        """f(p), what ``p`` keeps."""
        return self.solution.frontiers[p]

    def reached(self, p: ProcessorId) -> Any:
        """The smallest known frontier around everything that had happened at ``p``.

        ⊤ for a live stateless processor: the file gives only what was completely delivered.
        """
        restorable, domain = self.before[p], self.graph.domains[p]
        if isinstance(restorable, AnyFrontier):
            return restorable.complete if p in self.failed else domain.top
        if not restorable.frontiers[-1].is_top:
            return restorable.frontiers[-1]
        happened = restorable.notified[-1]
        for edge in self.graph.inputs(p):
            part = restorable.processed[edge.name][-1]
            if not domain.whole:
                count = part[0] if part else 0
                part = SequenceFrontier({edge.name: count})
            happened = happened | part
        return happened

    def fate(self, p: ProcessorId, time: Any) -> Fate:
        """What becomes of the events of ``p`` at ``time``."""
        if time not in self.reached(p):
            return Fate.NOT_REACHED
        return Fate.KEPT if time in self.frontier(p) else Fate.UNDONE

    def resends(self) -> list[Resend]:
        """Every edge on which logged messages are sent again."""
        return [resend for edge in self.graph.edges.values() for resend in self._resend(edge)]

    def _resend(self, edge: Edge) -> Iterator[Resend]:
        frontier, choice = self.frontier(edge.source), self.solution.choice
        if edge.projection.recorded:
            sent = choice.projected(edge, frontier)
        else:
            sent = edge.projection.image(frontier & self.reached(edge.source))
        kept = choice.part(edge, self.frontier(edge.target))
        settled = kept | choice.discarded(edge)
        if not sent <= settled:
            yield Resend(edge, sent, settled)

    def logged(self, p: ProcessorId) -> list[EdgeId]:
        """The output edges of ``p`` on which it discards nothing."""
        restorable, outputs = self.before[p], self.graph.outputs(p)
        if isinstance(restorable, AnyFrontier):
            return [edge.name for edge in outputs if edge.name in restorable.logs]
        return [e.name for e in outputs if all(d.is_empty for d in restorable.discarded[e.name])]

    def policy(self, p: ProcessorId) -> str:
        """What ``p`` saves, in words."""
        restorable, logged = self.restorables[p], self.logged(p)
        outputs = [edge.name for edge in self.graph.outputs(p)]
        said = ["stateless"]
        if isinstance(restorable, Chain):
            saved = [f for f in restorable.frontiers if not f.is_empty and not f.is_top]
            said = ["checkpoints " + ", ".join(map(repr, saved)) if saved else "no checkpoints"]
        if outputs:
            whole = len(logged) > 1 and logged == outputs
            named = "all outputs" if whole else ", ".join(logged) or "nothing"
            said.append(f"logs {named}")
        return " · ".join(said)

    def why(self, p: ProcessorId) -> list[str]:
        """Why ``p`` does not keep ⊤: the constraints in its way, and its failure."""
        found: list[str] = []
        if p in self.failed:
            found.append("failed: all that it had not saved is lost")
        for violation in self.solution.reasons.get(p, []):
            edge = f", {violation.edge}" if violation.edge else ""
            found.append(f"{violation.because} [{violation.constraint}{edge}]")
        return found
