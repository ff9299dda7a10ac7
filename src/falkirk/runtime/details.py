"""What requests and their answers are made of: frontiers as JSON, and entries for the audit."""

import time
from collections.abc import Mapping
from typing import Any

from falkirk.core.machine.events import Effect, RolledBack
from falkirk.core.times import ProcessorId
from falkirk.store.codec import frontier_from_json, frontier_to_json


def entry(
    details: Mapping[str, Any], what: str, moved: Mapping[ProcessorId, str]
) -> dict[str, Any]:
    """An entry for the audit."""
    return {
        "at": time.time(),
        "who": details["who"],
        "what": what,
        "to": {},
        "moved": dict(moved),
        "why": details["why"],
    }


def read_frontiers(value: Mapping[str, Any]) -> dict[ProcessorId, Any]:
    """Frontiers out of a request."""
    return {ProcessorId(p): frontier_from_json(f) for p, f in value.items()}


def write_frontiers(frontiers: Mapping[ProcessorId, Any]) -> dict[str, Any]:
    """Frontiers for an answer."""
    return {p: frontier_to_json(f) for p, f in frontiers.items()}


def moved_by(effects: list[Effect]) -> dict[ProcessorId, Any]:
    """Who went back, and where to."""
    (rolled,) = [effect for effect in effects if isinstance(effect, RolledBack)]
    return {p: f for p, f in rolled.frontiers.items() if not f.is_top}
