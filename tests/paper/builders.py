"""Short ways to write down the paper's little dataflow graphs."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from falkirk.core import (
    CONSTRAINTS,
    EPOCH,
    AnyFrontier,
    Chain,
    Choice,
    Constraint,
    Domain,
    Edge,
    Enter,
    Feedback,
    Graph,
    Identity,
    Leave,
    Recorded,
    Restorable,
    TotalFrontier,
    notification_projection,
    notification_within_frontier,
    processed_notifications,
    violations,
)

ON_NOTIFICATIONS = (
    notification_within_frontier,
    processed_notifications,
    notification_projection,
)
PROJECTIONS = {"identity": Identity, "enter": Enter, "leave": Leave, "feedback": Feedback}


def graph_of(domains: Mapping[str, Domain], **edges: str) -> Graph:
    """A graph whose edges read ``e1="p > q"``, or ``e1="p > q by enter"``."""
    found = []
    for name, text in edges.items():
        ends, _, kind = text.partition(" by ")
        source, target = ends.split(" > ")
        if kind == "recorded":
            projection = Recorded()
        else:
            projection = PROJECTIONS[kind or "identity"](domains[source], domains[target])
        found.append(Edge(name, source, target, projection))
    return Graph(domains, found)


def epochs(names: str, **edges: str) -> Graph:
    """A graph of epoch processors, one letter each."""
    return graph_of(dict.fromkeys(names, EPOCH), **edges)


def upto(*time: Any) -> Any:
    """↓{time} in a totally ordered domain."""
    return TotalFrontier(time)


def consistent_choices(
    graph: Graph,
    restorables: Mapping[str, Restorable],
    constraints: tuple[Constraint, ...] = CONSTRAINTS,
    notifications: list[Any] | None = None,
) -> Iterator[Choice]:
    """Every choice of frontiers from F* that satisfies ``constraints``.

    f_n is chosen from ``notifications`` at every processor, or else from its F* as well.
    """
    names = list(graph.domains)
    options = [available(graph, restorables, p) for p in names]
    plain = tuple(c for c in constraints if c not in ON_NOTIFICATIONS)
    for chosen in product(*options):
        frontiers = dict(zip(names, chosen, strict=True))
        if violations(Choice(graph, restorables, frontiers, frontiers), plain):
            continue
        for noted in product(*([notifications or listed for listed in options])):
            choice = Choice(graph, restorables, frontiers, dict(zip(names, noted, strict=True)))
            if not violations(choice, constraints):
                yield choice


def available(graph: Graph, restorables: Mapping[str, Restorable], p: str) -> list[Any]:
    """F*(p), as a list; the processor has epochs if it can restore to any frontier."""
    restorable = restorables[p]
    if isinstance(restorable, Chain):
        return list(restorable.frontiers)
    assert isinstance(restorable, AnyFrontier)
    last = restorable.complete[0] if restorable.complete else -1
    found = [EPOCH.empty, *(upto(t) for t in range(last + 1))]
    return found if restorable.failed else [*found, EPOCH.top]


def largest_choice(
    graph: Graph,
    restorables: Mapping[str, Restorable],
    constraints: tuple[Constraint, ...] = CONSTRAINTS,
    notifications: list[Any] | None = None,
) -> dict[str, Any]:
    """The frontiers of the consistent choice that contains all others; there is one."""
    choices = consistent_choices(graph, restorables, constraints, notifications)
    found = [choice.frontiers for choice in choices]
    best = [f for f in found if all(g[p] <= f[p] for g in found for p in g)]
    assert best, "no choice contains all the others"
    return dict(best[0])
