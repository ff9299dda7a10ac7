"""Carrying out a plan for a rollback, exactly or not at all.

In a store that nobody runs on it is done by the retraction that every recovery uses, so the next
run starts from it like from any other. A run that is there is asked, and goes back by itself:
nobody further than by the plan, and those who need not go back stay where they are.
"""

import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from falkirk.core.machine.events import Retract
from falkirk.core.times import ProcessorId
from falkirk.inspection.asking import SECONDS, StalePlanError, asked, in_use, somebody
from falkirk.inspection.look import fingerprint
from falkirk.inspection.repair import Plan
from falkirk.runtime.listening import BY_HAND
from falkirk.runtime.undoing import to_undo
from falkirk.store.codec import frontier_from_json
from falkirk.store.noting import Note
from falkirk.store.pins import PIN
from falkirk.store.recoveries import fact
from falkirk.store.store import SqlStore


def carry_out(
    store: SqlStore, plan: Plan, reason: str, seconds: float = SECONDS
) -> Mapping[str, Any]:
    """Carries out ``plan``, by the run if there is one; returns the frontiers that were gone to."""
    if in_use(store):
        return ask_for(store, plan, reason, seconds)
    apply_plan(store, plan, reason)
    return plan.frontiers


def ask_for(store: SqlStore, plan: Plan, reason: str, seconds: float) -> Mapping[str, Any]:
    """Has a run carry out ``plan``; it refuses if somebody has gone back since it was made."""
    if not plan.running:
        raise StalePlanError(
            f"the flow on {store.database.place} was started since the plan was made"
            f" ({plan.made}), so nothing was done: make a new plan"
        )
    details = {
        "bounds": dict(plan.bounds),
        "promised": dict(plan.frontiers),
        "incarnations": dict(plan.standing),
        "to": dict(plan.to),
        "who": somebody(),
        "why": reason,
    }
    found: Mapping[str, Any] = asked(store, "rollback", details, seconds)["frontiers"]
    return found


def apply_plan(store: SqlStore, plan: Plan, reason: str) -> None:
    """Carries out ``plan``, or refuses it if the store has changed since it was made."""
    store.acquire()
    frontiers = {ProcessorId(p): frontier_from_json(f) for p, f in plan.frontiers.items()}
    incarnations = {ProcessorId(p): number for p, number in plan.incarnations.items()}

    def check(connection: Connection) -> None:
        if fingerprint(connection) != plan.fingerprint:
            raise StalePlanError(
                f"the store at {store.database.place} has changed since the plan was made"
                f" ({plan.made}), so nothing was done: make a new plan"
            )

    entry = {
        "at": time.time(),
        "who": somebody(),
        "what": "rollback",
        "to": dict(plan.to),
        "moved": {each.processor: each.goes_to.words for each in plan.moved},
        "why": reason,
    }
    facts = {
        **dict.fromkeys(PIN + name for name in plan.pins),
        **to_undo({p: f for p, f in frontiers.items() if p in plan.undo}),
        **fact(recovery(plan, store.noticeboard.last_recovery() + 1, entry)),
    }
    store.repair(Retract(frontiers, incarnations, Note(facts, entry)), check)


def recovery(plan: Plan, number: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The repair as one of the recoveries of the flow."""
    return {
        "number": number,
        "at": entry["at"],
        "cause": f"{BY_HAND}, {entry['who']}: {entry['why']}",
        "failed": [],
        "frontiers": dict(plan.frontiers),
        "kept": len(plan.fates) - len(plan.moves),
        "reasons": dict(plan.reasons),
        "undone": {each.processor: len(each.undone) for each in plan.moved},
        "seconds": 0.0,
        "caught_up": None,
        "rows": None,
    }
