"""The recoveries that a store remembers: why, who went where, what forced them, what it cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from falkirk.core.constraints import Violation
from falkirk.core.times import ProcessorId
from falkirk.core.words import until
from falkirk.inspection.causes import SECTIONS, in_words
from falkirk.inspection.look import Look
from falkirk.runtime.listening import RollbackNotice
from falkirk.store.codec import frontier_from_json
from falkirk.store.recoveries import recoveries_in
from falkirk.store.store import SqlStore


@dataclass(frozen=True, slots=True)
class Remembered:
    """A recovery as the run told it; ``kept`` processors had all that they needed.

    ``caught_up`` says after how many seconds everybody was where it had been, ``rows`` how many
    rows that took; None if the run ended before.
    """

    notice: RollbackNotice
    kept: int
    caught_up: float | None
    rows: int | None


@dataclass(frozen=True, slots=True)
class Reason:
    """A constraint that forced a processor, by a neighbour."""

    words: str
    by: str
    section: str


@dataclass(frozen=True, slots=True)
class Moved:
    """Where one processor went; ``epochs`` of its work were done again, at most."""

    processor: str
    failed: bool
    to: str
    epochs: int | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Recovery:
    """One recovery for people.

    ``caught_up`` and ``rows`` are None after a restart, too: how far the process before it had come
    is not known.
    """

    number: int
    at: float
    kind: str
    cause: str
    failed: tuple[str, ...]
    moved: tuple[Moved, ...]
    kept: int
    seconds: float
    caught_up: float | None
    rows: int | None


def remembered(store: SqlStore, after: int = 0) -> list[Remembered]:
    """The recoveries of a store with a number above ``after``, the oldest first."""
    with store.database.reading() as connection:
        return [read(value) for value in recoveries_in(connection, after)]


def read(value: Mapping[str, Any]) -> Remembered:
    """A recovery out of the store."""
    frontiers = {ProcessorId(p): frontier_from_json(f) for p, f in value["frontiers"].items()}
    reasons = {
        ProcessorId(p): [violation(p, each) for each in found]
        for p, found in value["reasons"].items()
    }
    notice = RollbackNotice(
        value["number"],
        value["at"],
        value["cause"],
        tuple(value["failed"]),
        frontiers,
        reasons,
        {ProcessorId(p): count for p, count in value["undone"].items()},
        value["seconds"],
    )
    return Remembered(notice, value["kept"], value["caught_up"], value["rows"])


def violation(p: str, value: Mapping[str, Any]) -> Violation:
    """A constraint out of the store."""
    wanted, allowed = (
        None if value[name] is None else frontier_from_json(value[name])
        for name in ("wanted", "allowed")
    )
    return Violation(
        value["constraint"], ProcessorId(p), value["edge"], value["because"], wanted, allowed
    )


def recoveries_of(look: Look, known: Iterable[Remembered]) -> list[Recovery]:
    """Recoveries for people, the newest first."""
    return [described(look, each) for each in known][::-1]


def described(look: Look, each: Remembered) -> Recovery:
    """A recovery for people."""
    notice = each.notice
    known = notice.kind != "restart" or bool(notice.undone)
    moved = [
        Moved(
            p,
            p in notice.failed,
            until(frontier),
            notice.undone.get(p),
            tuple(reason(look, found) for found in notice.reasons.get(p, ())),
        )
        for p, frontier in notice.frontiers.items()
    ]
    return Recovery(
        notice.number,
        notice.at,
        notice.kind,
        notice.cause,
        tuple(notice.failed),
        tuple(moved),
        each.kept,
        notice.seconds,
        each.caught_up if known else None,
        each.rows if known else None,
    )


def reason(look: Look, found: Violation) -> Reason:
    """A constraint in words."""
    edges, section = look.flow.graph.edges, SECTIONS.get(found.constraint, "")
    if found.edge is None or found.edge not in edges:
        return Reason(in_words(found, found.processor), found.processor, section)
    edge = edges[found.edge]
    by = edge.target if found.constraint == "discarded-messages" else edge.source
    return Reason(in_words(found, by, look.flow.numbered(edge.target)), by, section)
