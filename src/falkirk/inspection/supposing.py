"""What would happen if processors failed now: the real solver on what the store holds (§4.4).

Those that live are taken to have done all that is durable of them and nothing else. A run that goes
on has done a little more by the time; what it did since its last checkpoints is done again, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.errors import ConfigurationError
from falkirk.core.machine.flow import Role
from falkirk.core.machine.ledger import within
from falkirk.core.projection import Feedback
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import Look
from falkirk.inspection.nearest import nearest
from falkirk.inspection.status import position, position_at
from falkirk.inspection.words import Mark, at, mark


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one processor.

    ``undone`` are its durable times that are done again, ``bytes`` what is stored of them.
    """

    processor: str
    policy: str
    failed: bool
    keeps_all: bool
    goes_to: Mark
    undone: tuple[str, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Reread:
    """A part of an input that is read again: after one position, up to the other."""

    input: str
    epochs: tuple[str, ...]
    after: Any
    up_to: Any


@dataclass(frozen=True, slots=True)
class Resent:
    """Logged messages that are sent again instead of being made again."""

    edge: str
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Supposition:
    """The answer."""

    flow: str
    store: str
    failed: tuple[str, ...]
    fates: tuple[Fate, ...]
    reread: tuple[Reread, ...]
    resent: tuple[Resent, ...]


def suppose(look: Look, names: Iterable[str]) -> Supposition:
    """What would happen if the processors with these names failed."""
    failed = named(look, names)
    solution = solution_without(look, failed)
    return Supposition(
        look.name,
        look.place,
        tuple(failed),
        tuple(fate(look, solution, p, p in failed) for p in look.flow.processors),
        tuple(rereads(look, solution)),
        tuple(resends(look, solution)),
    )


def named(look: Look, names: Iterable[str]) -> list[ProcessorId]:
    """The processors with these names; one that is not there is refused."""
    for name in names:
        if name not in look.flow.processors:
            raise ConfigurationError(
                f"the flow {look.name!r} has no processor {name!r}"
                f"{nearest(name, look.flow.processors)}"
            )
    return [ProcessorId(name) for name in dict.fromkeys(names)]


def solution_without(look: Look, failed: Iterable[ProcessorId]) -> Solution:
    """Where everybody goes when ``failed`` have lost what was not durable."""
    gone = set(failed)
    if gone == set(look.flow.processors):
        return look.solution
    complete = completed(look)
    offered: dict[ProcessorId, Restorable] = {}
    for p, restorable in look.restorables.items():
        if isinstance(restorable, AnyFrontier):
            live = None if p in gone else living_stateless(look, p, complete[p])
            offered[p] = AnyFrontier(complete[p], p in gone, live=live)
        else:
            assert isinstance(restorable, Chain), "the store offers chains and stateless ones"
            offered[p] = restorable if p in gone else restorable.extended(living(look, p))
    return solve(look.flow.recovery, offered)


def living(look: Look, p: ProcessorId) -> Checkpoint:
    """Ξ(p, ⊤) of a processor that has done all that is durable of it."""
    domain, flow = look.flow.graph.domains[p], look.flow
    told = None if flow.numbered(p) else look.saved(p)
    done = look.stored[p].ledger.metadata(domain.top, told)
    if not flow.processors[p].policy.tainted:
        return done
    nothing = dict.fromkeys(done.processed, domain.edge_empty)
    return Checkpoint(done.frontier, domain.empty, nothing, done.discarded, done.projected)


def living_stateless(look: Look, p: ProcessorId, complete: Any) -> Checkpoint:
    """Ξ(p, ⊤) of a stateless processor: it may have done anything inside what it completed."""
    graph = look.flow.graph
    domain = graph.domains[p]
    return Checkpoint(
        domain.top,
        complete if domain.whole else domain.empty,
        {d.name: domain.part(complete, d.name) for d in graph.inputs(p)},
        {e.name: e.projection.image(complete) for e in graph.outputs(p)},
    )


def completed(look: Look) -> dict[ProcessorId, Any]:
    """What each processor has completed: what it saved, and without checkpoints what came in."""
    flow = look.flow
    found = {p: look.saved(p) for p in flow.processors if not flow.restores_anywhere(p)}
    left = [p for p in flow.processors if p not in found]
    while left:
        ready = [p for p in left if all(_known(edge, found) for edge in flow.graph.inputs(p))]
        for p in ready or left[:1]:
            domain = flow.graph.domains[p]
            reached = domain.top
            for edge in flow.graph.inputs(p):
                if edge.source in found and not isinstance(edge.projection, Feedback):
                    part = _fixed(look, edge, found[edge.source])
                    reached = domain.limited(reached, edge.name, part)
            found[p] = reached
            left.remove(p)
    return found


def _known(edge: Any, found: dict[ProcessorId, Any]) -> bool:
    return edge.source in found or isinstance(edge.projection, Feedback)


def _fixed(look: Look, edge: Any, frontier: Any) -> Any:
    """φ of an edge; one that is recorded is known from the newest checkpoint."""
    if not edge.projection.recorded:
        return edge.projection.phi(frontier)
    checkpoints = look.stored[edge.source].checkpoints
    nothing = look.flow.graph.domains[edge.target].edge_empty
    return checkpoints[-1].projected.get(edge.name, nothing) if checkpoints else nothing


def fate(look: Look, solution: Solution, p: ProcessorId, failed: bool) -> Fate:
    """What becomes of one processor."""
    frontier = solution.frontiers[p]
    records = look.stored[p].ledger.records
    undone = sorted(time for time in records if time not in frontier)
    lost = {
        use.batch: use.size
        for use in look.uses_of.get(p, ())
        if use.time is not None and use.time not in frontier
    }
    return Fate(
        p,
        look.policy(p),
        failed,
        bool(frontier.is_top) and not failed,
        mark(look.flow.graph, p, frontier),
        tuple(map(at, undone)),
        sum(lost.values()),
    )


def rereads(look: Look, solution: Solution) -> Iterable[Reread]:
    """Which positions of which inputs are read again."""
    for p, processor in look.flow.processors.items():
        ledger, frontier = look.stored[p].ledger, solution.frontiers[p]
        if processor.role is not Role.INPUT:
            continue
        again = sorted(time for time in ledger.records if time not in frontier)
        if again:
            yield Reread(
                p,
                tuple(map(at, again)),
                position_at(ledger, frontier),
                position(ledger.position()),
            )


def resends(look: Look, solution: Solution) -> Iterable[Resent]:
    """Which logged messages are sent again."""
    graph = look.flow.graph
    sizes = {(use.processor, use.time, use.part): use.size for use in look.uses}
    for name, edge in graph.edges.items():
        target, source = solution.frontiers[edge.target], solution.frontiers[edge.source]
        if target.is_top:
            continue
        reached = graph.domains[edge.target].part(target, name)
        count = bytes_ = 0
        for time, record in look.stored[edge.source].ledger.records.items():
            for place, message in enumerate(record.sent):
                if message.edge == name and time in source and not within(message, reached):
                    count += 1
                    bytes_ += sizes.get((edge.source, time, str(place)), 0)
        if count:
            yield Resent(name, count, bytes_)
