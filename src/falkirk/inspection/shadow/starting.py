"""Starting a shadow: what it would keep and do again, in words, and making its store."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from falkirk.core.errors import ConfigurationError
from falkirk.core.machine.flow import Role
from falkirk.core.machine.ledger import within
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.description import about, describe
from falkirk.inspection.asking import somebody
from falkirk.inspection.look import Look, look, opened
from falkirk.inspection.nearest import nearest
from falkirk.inspection.shadow import ends
from falkirk.inspection.shadow.changing import removed
from falkirk.inspection.shadow.facts import (
    Shadow,
    identity_in,
    write_shadow,
)
from falkirk.inspection.shadow.forking import forked
from falkirk.inspection.shadow.places import folder_of, lasting
from falkirk.inspection.shadow.planning import AGAIN, ON, Fork, plan_fork
from falkirk.inspection.shadow.recording import outputs_of
from falkirk.inspection.times import read_bound
from falkirk.inspection.words import Mark, mark, until
from falkirk.store import audit
from falkirk.store.adoption import ABOUT, adopt
from falkirk.store.ends import Ends, ends_in
from falkirk.store.store import SqlStore


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants of a shadow.

    ``at`` has times as people type them, and ``pin`` the name of a pin whose frontiers are meant.
    """

    at: tuple[str, ...] = ()
    pin: str | None = None
    keep: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    reread: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """What becomes of one processor in the fork."""

    processor: str
    role: str
    change: str
    keeps: Mark
    again: bool
    because: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Where an input of the fork begins; epochs up to ``joined`` become one."""

    input: str
    how: str
    after: str
    joined: int | None


@dataclass(frozen=True, slots=True)
class Writing:
    """Where an output of the fork is recorded, and what it can be compared with."""

    output: str
    recorded: bool
    live: str | None


@dataclass(frozen=True, slots=True)
class Prospect:
    """A fork before it is made."""

    flow: str
    live: str
    shadow: str
    at: dict[str, str]
    parts: tuple[Part, ...]
    removed: tuple[str, ...]
    inputs: tuple[Reading, ...]
    outputs: tuple[Writing, ...]
    resent: tuple[str, ...]


def prospect_of(blueprint: Blueprint, live: str, place: str, wish: Wish) -> Prospect:
    """What the shadow at ``place`` would keep, and do again; nothing is made."""
    lasting(live)
    folder_of(place)
    with opened(live) as store:
        fork = planned(look(store), ends_of(store), blueprint, wish)
        identity = identity_in(store)
    return prospect(fork, place, wish, identity)


def start_shadow(blueprint: Blueprint, live: str, place: str, wish: Wish, why: str) -> Prospect:
    """Makes the shadow of ``live`` at ``place``."""
    source, target = lasting(live), folder_of(place)
    with opened(live) as store:
        identity = identity_in(store)

    def finish(store: SqlStore, fork: Fork) -> None:
        finished(store, fork, source, identity, wish, why)

    target.parent.mkdir(parents=True, exist_ok=True)

    def plan(store: SqlStore) -> Fork:
        return planned(look(store), ends_of(store), blueprint, wish)

    fork = forked(live, target, plan, finish)
    return prospect(fork, place, wish, identity)


def ends_of(store: SqlStore) -> Ends:
    """The ends of epochs that a store remembers."""
    with store.database.reading() as connection:
        return ends_in(connection)


def planned(look: Look, known: Ends, blueprint: Blueprint, wish: Wish) -> Fork:
    """The fork that is wished for."""
    refuse_unknown(wish.reread, blueprint.sources, "input")
    refuse_unknown(wish.own, blueprint.sinks, "output")
    pinned = frontiers_of(look, wish.pin) if wish.pin else {}
    bounds = {p: frontier for p, frontier in pinned.items() if p in blueprint.nodes}
    bounds |= dict(read_bound(look.flow.graph, target) for target in wish.at)
    return plan_fork(look, known, blueprint, bounds, wish.keep, wish.changed, wish.reread)


def frontiers_of(look: Look, pin: str) -> Mapping[ProcessorId, Any]:
    """The frontiers that a pin keeps."""
    known = {each.name: each.frontiers for each in look.pins}
    if pin not in known:
        raise ConfigurationError(f"there is no pin {pin!r}{nearest(pin, known)}")
    return known[pin]


def refuse_unknown(names: Collection[str], known: Collection[str], what: str) -> None:
    """Names that the flow does not have are mistakes."""
    for name in names:
        if name not in known:
            raise ConfigurationError(f"the flow has no {what} {name!r}{nearest(name, known)}")


def finished(
    store: SqlStore, fork: Fork, live: str, identity: str | None, wish: Wish, why: str
) -> None:
    """Writes whose flow a fork is, whose shadow, and who made it."""
    blueprint, graph = fork.blueprint, fork.blueprint.flow.graph
    outer = [p for p, node in blueprint.nodes.items() if node.role is not Role.INNER]
    kept = {str(p): kept_epoch(fork, p) for p in outer}
    with store.database.writing() as connection:
        description = {**describe(blueprint), ABOUT: about(blueprint, True)}
        adopt(connection, description, store.database.place)
        ends.table.create(connection)
        for p, known in fork.ends.items():
            ends.write_ends(connection, p, known)
        now = store.database.now(connection)
        words = {str(p): until(fork.frontier(p)) for p in graph.domains}
        again = tuple(p for p in graph.domains if is_again(fork, p))
        shadow = Shadow(
            live,
            identity,
            now,
            {p: until(bound) for p, bound in fork.bounds.items()},
            words,
            again,
            kept,
            {p: start.how for p, start in fork.starts.items()},
            tuple(outputs_of(blueprint, identity, wish.own)),
        )
        write_shadow(connection, shadow)
        audit.note(
            connection,
            {
                "at": now,
                "who": somebody(),
                "what": f"shadow of {live}",
                "to": shadow.at,
                "moved": {p: words[p] for p in again},
                "why": why,
            },
        )


def kept_epoch(fork: Fork, p: ProcessorId) -> int:
    """The last epoch that a fork takes over of an input or an output; -1 if none."""
    start = fork.starts.get(p)
    if start is not None and start.how == AGAIN:
        return (start.joined or 0) - 1
    if start is not None and start.how != ON:
        return -1
    return ends.last_epoch(fork.frontier(p))


def is_again(fork: Fork, p: ProcessorId) -> bool:
    """Whether ``p`` begins from nothing."""
    return bool(fork.frontier(p).is_empty)


def prospect(fork: Fork, place: str, wish: Wish, identity: str | None) -> Prospect:
    """A fork in words."""
    look, blueprint = fork.look, fork.blueprint
    return Prospect(
        blueprint.name,
        look.place,
        place,
        {p: until(bound) for p, bound in fork.bounds.items()},
        tuple(part(fork, p) for p in blueprint.nodes),
        removed(look.description, blueprint),
        tuple(
            Reading(p, start.how, until(fork.frontier(p)), start.joined)
            for p, start in fork.starts.items()
        ),
        tuple(
            Writing(each.name, not each.own, each.live)
            for each in outputs_of(blueprint, identity, wish.own)
        ),
        tuple(sent(fork)),
    )


def part(fork: Fork, p: ProcessorId) -> Part:
    """What becomes of one processor."""
    graph, change = fork.blueprint.flow.graph, fork.changes[p]
    return Part(
        p,
        fork.blueprint.nodes[p].role.value,
        change.what,
        mark(graph, p, fork.frontier(p)),
        is_again(fork, p),
        change.why or because(fork, p),
    )


def because(fork: Fork, p: ProcessorId) -> str:
    """Why a processor that did not change goes back, in a few words."""
    edges = fork.blueprint.flow.graph.edges
    for violation in fork.solution.reasons.get(p, ()):
        if violation.edge is None:
            continue
        edge = edges[violation.edge]
        if violation.constraint == "discarded-messages":
            return f"{edge.target} needs what it sent"
        return f"{edge.source} goes back"
    return ""


def sent(fork: Fork) -> list[str]:
    """The edges whose log is sent again."""
    there = fork.blueprint.flow.graph.edges
    kept = {p for p in fork.look.stored if p in fork.changes and fork.keeps(p)}
    found = []
    for name, edge in there.items():
        if edge.source not in kept or fork.look.description["edges"].get(name) is None:
            continue
        target = fork.frontier(edge.target)
        reached = fork.blueprint.flow.graph.domains[edge.target].part(target, name)
        source = fork.frontier(edge.source)
        if any(
            message.edge == name and time in source and not within(message, reached)
            for time, record in fork.look.stored[edge.source].ledger.records.items()
            for message in record.sent
        ):
            found.append(str(name))
    return found
