"""Recoveries as a page tells them: why, who went where, what forced them, what it cost."""

from collections.abc import Iterable, Mapping
from typing import Any

from falkirk.core.constraints import Violation
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.inspection.causes import SECTIONS, in_words
from falkirk.inspection.look import Look
from falkirk.inspection.recoveries import Remembered
from falkirk.runtime.listening import RollbackNotice
from falkirk.web.shapes import Values, marked

Ends = Mapping[EdgeId, tuple[ProcessorId, ProcessorId]]
"""The source and the target of every edge."""

OBSERVED = "observed"
"""The kind of a recovery of which only the store is known."""

REASONS_MAX = 4


def told(notice: RollbackNotice, ends: Ends, numbered: set[ProcessorId]) -> Values:
    """A recovery as the run has told it."""
    moved = [
        {
            "processor": p,
            "failed": p in notice.failed,
            "to": marked(frontier),
            "epochs": notice.undone.get(p),
            "reasons": reasons(notice.reasons.get(p, ()), ends, numbered),
        }
        for p, frontier in notice.frontiers.items()
        if p in notice.failed or not frontier.is_top
    ]
    return {
        "number": notice.number,
        "at": notice.at,
        "cause": notice.cause,
        "kind": notice.kind,
        "failed": list(notice.failed),
        "seconds": notice.seconds,
        "moved": moved,
        "kept": len(notice.frontiers) - len(moved),
        "caught_up": None,
        "rows": None,
    }


def retold(look: Look, known: Iterable[Remembered]) -> list[Values]:
    """Recoveries as the store remembers them."""
    edges = look.flow.graph.edges.items()
    ends = {name: (each.source, each.target) for name, each in edges}
    numbered = {p for p in look.flow.processors if look.flow.numbered(p)}
    return [
        told(each.notice, ends, numbered)
        | {"kept": each.kept, "caught_up": each.caught_up, "rows": each.rows}
        for each in known
    ]


def reasons(violations: Iterable[Violation], ends: Ends, numbered: set[ProcessorId]) -> list[Any]:
    """The constraints that forced a processor, in words."""
    found = []
    for each in list(violations)[:REASONS_MAX]:
        by = each.processor
        if each.edge is not None and each.edge in ends:
            source, target = ends[each.edge]
            by = target if each.constraint == "discarded-messages" else source
            words = in_words(each, by, target in numbered)
        else:
            words = in_words(each, by)
        found.append(
            {
                "words": words,
                "by": by,
                "edge": each.edge,
                "section": SECTIONS.get(each.constraint, ""),
            }
        )
    return found


def observed(number: int, before: Look, now: Look) -> Values | None:
    """A recovery that happened between two looks at a store, if one did: incarnations tell."""
    moved = [
        p
        for p in now.flow.processors
        if p in before.stored and before.stored[p].incarnation < now.stored[p].incarnation
    ]
    if not moved:
        return None
    return {
        "number": number,
        "at": now.now,
        "cause": "seen in the store",
        "kind": OBSERVED,
        "failed": [],
        "seconds": None,
        "moved": [
            {
                "processor": p,
                "failed": False,
                "to": marked(now.saved(p)),
                "epochs": None,
                "reasons": [],
            }
            for p in moved
        ],
        "kept": len(now.flow.processors) - len(moved),
        "caught_up": None,
        "rows": None,
    }
