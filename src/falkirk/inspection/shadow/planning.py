"""The frontiers of a fork: the solver's own answer, with ∅ alone for what has changed.

Three rules make it a fork and not a recovery. Nobody but an input is bound by its floor, for a
shadow may do everything again that it can get the messages for. An output begins anywhere inside
what it has completed, for what it has shown is the live flow's. And a log is worth only what is
left of it: what its receiver's low-watermark has passed may be gone, so it counts as discarded.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.errors import ConfigurationError, RecoveryError
from falkirk.core.graph import Edge
from falkirk.core.machine.flow import Role
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.node import Versions
from falkirk.inspection.look import Look
from falkirk.inspection.shadow.changing import Change, changes
from falkirk.inspection.shadow.ends import End, known_ends, last_epoch
from falkirk.inspection.shadow.sources import keeps, shared
from falkirk.inspection.words import until
from falkirk.store.ends import Ends

ON, AGAIN, OWN = "on", "again", "own"


@dataclass(frozen=True, slots=True)
class Start:
    """Where an input of the fork begins.

    It goes ``on`` after its frontier at the ends of the live flow's epochs. ``again`` reads from
    the very start, although the live store no longer knows where the first epochs ended: up to
    ``joined`` they become one. An input of its ``own`` has no counterpart to follow.
    """

    how: str
    joined: int | None = None


@dataclass(frozen=True)
class Fork:
    """What a fork keeps, and what it does again."""

    look: Look
    known: Ends
    blueprint: Blueprint
    changes: Mapping[ProcessorId, Change]
    bounds: Mapping[ProcessorId, Any]
    solution: Solution
    starts: Mapping[ProcessorId, Start]

    def frontier(self, p: ProcessorId) -> Any:
        """What the fork keeps of ``p``."""
        return self.solution.frontiers[p]

    def keeps(self, p: ProcessorId) -> bool:
        """Whether anything that is stored of ``p`` is taken over."""
        stored = p in self.look.stored and not self.changes[p].starts_again
        start = self.starts.get(p)
        again = start is not None and start.how != ON
        anywhere = self.blueprint.flow.restores_anywhere(p) or p in self.blueprint.sinks
        return stored and not again and not anywhere

    @property
    def ends(self) -> dict[ProcessorId, list[End]]:
        """The ends of epochs that the fork's inputs will keep to, as far as they are known."""
        found = {}
        for p, start in self.starts.items():
            if start.how != OWN and p in self.blueprint.sources:
                after = last_epoch(self.frontier(p)) if start.how == ON else -1
                found[p] = known_ends(self.look, self.known, p, after)
        return found


def plan_fork(
    look: Look,
    known: Ends,
    blueprint: Blueprint,
    bounds: Mapping[ProcessorId, Any] | None = None,
    keep: Collection[str] = (),
    changed: Collection[str] = (),
    reread: Collection[str] = (),
) -> Fork:
    """The largest fork of what ``look`` saw from which ``blueprint`` can go on.

    ``known`` has the ends of epochs that the live store remembers. Every processor of ``bounds``
    keeps no more than its bound; a set of frontiers that belong together, such as a pin's, bounds
    everybody. ``reread`` names inputs that the user vouches for.
    """
    bounds = dict(bounds or {})
    for p in bounds:
        if p not in blueprint.nodes:
            raise ConfigurationError(
                f"the changed flow has no processor {p!r}, so it cannot be bounded: name another"
            )
    found = changes(look.description, look.about, blueprint, keep, changed)
    offered = {p: offer(look, blueprint, found, p, bounds.get(p)) for p in blueprint.nodes}
    solution = solve(blueprint.flow.recovery, offered)
    starts = {
        p: start(look, known, found[p], solution.frontiers[p], blueprint, p)
        for p, node in blueprint.nodes.items()
        if node.role is Role.INPUT
    }
    fork = Fork(look, known, blueprint, found, bounds, solution, starts)
    refuse_sources(fork, reread)
    return fork


def offer(
    look: Look,
    blueprint: Blueprint,
    found: Mapping[ProcessorId, Change],
    p: ProcessorId,
    bound: Any,
) -> Restorable:
    """What ``p`` can be restored to in a fork."""
    flow = blueprint.flow
    domain = flow.graph.domains[p]
    again = found[p].starts_again
    if flow.restores_anywhere(p) or p in blueprint.sinks:
        most = domain.empty if again else look.saved(p) if p in blueprint.sinks else domain.top
        return AnyFrontier(most if bound is None else most & bound, failed=True)
    saved = () if again else look.stored[p].checkpoints
    inside = [
        c for c in saved if not c.frontier.is_empty and (bound is None or c.frontier <= bound)
    ]
    kept = [adapted(look, blueprint, p, checkpoint) for checkpoint in inside]
    return Chain(flow.recovery, p, [Checkpoint(domain.empty), *kept])


def adapted(look: Look, blueprint: Blueprint, p: ProcessorId, saved: Checkpoint) -> Checkpoint:
    """Ξ(p, f) for the changed flow: edges that are new discard all that was sent."""
    flow = blueprint.flow
    edges = [e for e in flow.recovery.outputs(p) if is_same(look, blueprint, e)]
    return Checkpoint(
        saved.frontier,
        saved.notified,
        saved.processed,
        {e.name: missing(look, blueprint, e, saved) for e in edges},
        {e.name: saved.projected[e.name] for e in edges if e.name in saved.projected},
    )


def missing(look: Look, blueprint: Blueprint, edge: Edge, saved: Checkpoint) -> Any:
    """D̄(e, f), and what may have been collected of a log on ``edge``."""
    discarded = saved.discarded[edge.name]
    if not blueprint.flow.processors[edge.source].policy.logs(edge.name):
        return discarded
    sent = (
        saved.projected[edge.name]
        if edge.projection.recorded
        else edge.projection.image(saved.frontier)
    )
    passed = look.flow.graph.domains[edge.target].part(look.final(edge.target), edge.name)
    return discarded | (passed & sent)


def is_same(look: Look, blueprint: Blueprint, edge: Edge) -> bool:
    """Whether the live flow has ``edge``, too."""
    live = look.description["edges"].get(edge.name)
    return bool(
        live
        == {
            "source": edge.source,
            "target": edge.target,
            "port": blueprint.ports[edge.name],
            "projection": blueprint.flow.graph.edges[edge.name].projection.name,
        }
    )


def start(
    look: Look, kept: Ends, change: Change, frontier: Any, blueprint: Blueprint, p: ProcessorId
) -> Start:
    """Where an input begins."""
    if isinstance(blueprint.nodes[p].operator, Versions):
        return Start(ON if not change.starts_again else OWN)
    if change.starts_again:
        return Start(OWN)
    base = look.stored[p].ledger.base
    if base.frontier <= frontier:
        return Start(ON)
    known = known_ends(look, kept, p, -1)
    return Start(AGAIN, known[0].epoch if known else None)


def refuse_sources(fork: Fork, reread: Collection[str]) -> None:
    """Inputs that cannot be read beside the live flow, or not again, are named and refused."""
    problems = []
    for p, begun in fork.starts.items():
        source = fork.blueprint.nodes[p].operator
        kind = type(source).__name__
        if isinstance(source, Versions):
            if not fork.changes[p].starts_again and not floor(fork.look, p) <= fork.frontier(p):
                problems.append(f"the versions {p!r} would have to come again from the start")
        elif p in reread or begun.how == OWN:
            continue
        elif not shared(source):
            problems.append(
                f"the input {p!r} ({kind}) cannot be read beside the live flow, which takes its"
                " rows away"
            )
        elif not fork.look.final(p) <= fork.frontier(p) and not keeps(source):
            final = until(fork.look.final(p))
            problems.append(
                f"the input {p!r} ({kind}) would have to be read again {again(fork, p)}, and was"
                f" acknowledged up to {final}, so its source may have forgotten"
            )
    if problems:
        raise RecoveryError(
            "; ".join(problems) + ". If you know that it can, say `--reread INPUT`; else keep what"
            " changed at its state by `--keep P`, or log the edge before it"
        )


def again(fork: Fork, p: ProcessorId) -> str:
    """From where an input would be read again, and who needs that."""
    frontier = fork.frontier(p)
    where = "from the start" if frontier.is_empty else f"after {until(frontier)}"
    forced = [v.edge for v in fork.solution.reasons.get(p, ()) if v.edge is not None]
    needs = [fork.blueprint.flow.graph.edges[edge].target for edge in forced]
    return where + (f" for {', '.join(map(repr, dict.fromkeys(needs)))}" if needs else "")


def floor(look: Look, p: ProcessorId) -> Any:
    """What is folded of ``p``: it cannot be taken apart any more."""
    return look.stored[p].ledger.base.frontier
