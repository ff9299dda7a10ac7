"""Path summaries: the least time at which an event can have an effect elsewhere (§2.3; Naiad).

Along any path a structured time keeps a prefix, adds to its last kept coordinate and gets a
constant suffix: entering a loop appends 0, leaving drops a counter, feedback adds one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from falkirk.core.domain import Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.graph import Graph
from falkirk.core.projection import Enter, Feedback, Leave, LoopProjection
from falkirk.core.times import Coordinate, ProcessorId, Time


@dataclass(frozen=True, slots=True)
class Summary:
    """t ↦ (t₀, …, t_{keep-1} + add, *suffix).

    >>> Summary(2, 1, (0,)).apply((5, 3, 7))
    (5, 4, 0)
    >>> Summary(1, 0, (0,)).then(Summary(2, 1)) == Summary(1, 0, (1,))
    True
    """

    keep: int
    add: Coordinate = 0
    suffix: Time = ()

    def apply(self, time: Time) -> Time:
        """The least time that an event at ``time`` can lead to."""
        if not self.add and not self.suffix:
            return time[: self.keep]
        last = self.keep - 1
        return (*time[:last], time[last] + self.add, *self.suffix)

    def then(self, following: "Summary") -> "Summary":
        """This path and ``following`` after it."""
        if following.keep < self.keep:
            return following
        if following.keep == self.keep:
            return Summary(self.keep, self.add + following.add, following.suffix)
        kept = self.suffix[: following.keep - self.keep]
        kept = (*kept[:-1], kept[-1] + following.add)
        return Summary(self.keep, self.add, kept + following.suffix)

    def dominates(self, other: "Summary") -> bool:
        """Whether this one is never later than ``other``."""
        return (
            self.keep == other.keep
            and self.add <= other.add
            and all(a <= b for a, b in zip(self.suffix, other.suffix, strict=True))
        )


def edge_summary(projection: LoopProjection) -> Summary:
    """The summary of one edge."""
    depth = projection.source.depth
    if isinstance(projection, Enter):
        return Summary(depth, 0, (0,))
    if isinstance(projection, Leave):
        return Summary(depth - 1)
    return Summary(depth, int(isinstance(projection, Feedback)))


Summaries = dict[tuple[ProcessorId, ProcessorId], tuple[Summary, ...]]


def path_summaries(graph: Graph) -> Summaries:
    """The minimal summaries of all paths between structured processors; refuses still cycles.

    Recorded edges are left out: who sends along one holds an explicit capability instead.
    """
    steps: dict[ProcessorId, list[tuple[ProcessorId, Summary]]] = {p: [] for p in graph.domains}
    for edge in graph.edges.values():
        if isinstance(edge.projection, LoopProjection):
            steps[edge.source].append((edge.target, edge_summary(edge.projection)))
    found: dict[tuple[ProcessorId, ProcessorId], list[Summary]] = {}
    pending: list[tuple[ProcessorId, ProcessorId, Summary]] = []
    for p, domain in graph.domains.items():
        if isinstance(domain, Structured):
            found[p, p] = [Summary(domain.depth)]
            pending += [(p, q, step) for q, step in steps[p]]
    while pending:
        p, q, path = pending.pop()
        if p == q and path.add < 1:
            raise DefinitionError(
                f"a cycle through {p!r} comes back without advancing time: every way around needs"
                " a feedback edge of a loop that it does not leave"
            )
        known = found.setdefault((p, q), [])
        if any(old.dominates(path) for old in known):
            continue
        found[p, q] = [old for old in known if not path.dominates(old)] + [path]
        pending += [(p, r, path.then(step)) for r, step in steps[q]]
    return {pair: tuple(_sorted(paths)) for pair, paths in found.items()}


def _sorted(paths: Iterable[Summary]) -> list[Summary]:
    return sorted(paths, key=lambda s: (s.keep, s.add, s.suffix))
