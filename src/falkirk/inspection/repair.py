"""A person's rollback: a plan that names every frontier, and then exactly that plan or none.

The plan is the solver's own answer with one bound more, f(p) ⊆ what was asked for. It is refused
where state is gone, where a source may have forgotten, and where an output may have shown what
would be undone. It is carried out by the retraction that every recovery uses, so
the next run starts from it like from any other.
"""

import getpass
import json
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.errors import RecoveryError, StoreError
from falkirk.core.machine.events import Retract
from falkirk.core.machine.flow import Role
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import Look, fingerprint
from falkirk.inspection.supposing import Fate, Reread, Resent, fate, rereads, resends
from falkirk.inspection.words import Mark, at, until
from falkirk.store.codec import frontier_from_json, frontier_to_json
from falkirk.store.store import SqlStore

FORMAT = 1
"""The version of a saved plan."""


class StalePlanError(StoreError):
    """The store is not what it was when the plan was made."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a repair will do.

    ``moves`` names those that go back. ``frontiers`` and ``incarnations`` have those of them that
    keep anything; the others follow by themselves.
    """

    format: int
    flow: str
    store: str
    made: str
    fingerprint: str
    to: Mapping[str, str]
    moves: tuple[str, ...]
    frontiers: Mapping[str, Any]
    incarnations: Mapping[str, int]
    fates: tuple[Fate, ...]
    reread: tuple[Reread, ...]
    resent: tuple[Resent, ...]

    @property
    def moved(self) -> list[Fate]:
        """Those that go back."""
        return [each for each in self.fates if each.processor in self.moves]

    def text(self) -> str:
        """The plan as a file."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


def read_plan(text: str, name: str) -> Plan:
    """The plan in a file called ``name``."""
    try:
        value = json.loads(text)
        if value["format"] != FORMAT:
            raise ValueError(f"its format is {value['format']}, not {FORMAT}")
        fates = [Fate(**{**each, "goes_to": Mark(**each["goes_to"])}) for each in value["fates"]]
        given = {
            "moves": tuple(value["moves"]),
            "fates": tuple(fates),
            "reread": tuple(Reread(**each) for each in value["reread"]),
            "resent": tuple(Resent(**each) for each in value["resent"]),
        }
        return Plan(**{**value, **given})
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{name} is no plan of `falkirk rollback --save`: {error}") from None


def plan_rollback(look: Look, bounds: Mapping[ProcessorId, Any]) -> Plan:
    """The smallest rollback that puts every processor of ``bounds`` inside its bound."""
    refuse_live(look)
    for p, bound in bounds.items():
        refuse_final(look, p, bound)
    solution, before = bounded(look, bounds), look.solution.frontiers
    moved = {
        p: frontier
        for p, frontier in solution.frontiers.items()
        if not look.flow.restores_anywhere(p) and frontier != before[p]
    }
    for p, frontier in moved.items():
        refuse_final(look, p, frontier)
    return Plan(
        FORMAT,
        look.name,
        look.place,
        datetime.fromtimestamp(look.now, UTC).isoformat(timespec="seconds"),
        look.fingerprint,
        {p: until(bound) for p, bound in bounds.items()},
        tuple(p for p, frontier in solution.frontiers.items() if frontier != before[p]),
        {p: frontier_to_json(frontier) for p, frontier in moved.items()},
        {p: look.stored[p].incarnation + 1 for p in moved},
        tuple(fate(look, solution, p, failed=False) for p in look.flow.processors),
        tuple(rereads(look, solution)),
        tuple(resends(look, solution)),
    )


def bounded(look: Look, bounds: Mapping[ProcessorId, Any]) -> Solution:
    """The solution in which every processor of ``bounds`` keeps no more than its bound."""
    offered: dict[ProcessorId, Restorable] = dict(look.restorables)
    for p, bound in bounds.items():
        restorable = offered[p]
        if isinstance(restorable, Chain):
            inside = [c for c in look.stored[p].checkpoints if c.frontier <= bound]
            if restorable.frontiers[0].is_empty:
                inside.insert(0, Checkpoint(restorable.frontiers[0]))
            offered[p] = Chain(look.flow.recovery, p, inside)
        else:
            offered[p] = AnyFrontier(bound, failed=True)
    return solve(look.flow.recovery, offered)


def refuse_live(look: Look) -> None:
    """A repair needs a store that nobody runs on."""
    if look.holder.state in ("live", "expired"):
        raise StoreError(
            f"the store at {look.place} is in use by process {look.holder.pid} on"
            f" {look.holder.host}: stop that process first"
        )


def refuse_final(look: Look, p: ProcessorId, frontier: Any) -> None:
    """Below a low-watermark on which the run has acted there is nothing to go back to."""
    final, role = look.final(p), look.flow.processors[p].role
    if final <= frontier:
        return
    times = sorted(t for t in look.stored[p].ledger.records if t in final and t not in frontier)
    kind = "processor" if role is Role.INNER else role.value
    asked = f"{kind} {p!r} cannot go back to {until(frontier)}" + (
        f" (that is {listed(times)})" if times else ""
    )
    gone = {
        Role.INPUT: f"its source was told that it may forget up to {until(final)}",
        Role.INNER: f"older state and logs than {until(final)} are gone, or may be",
        Role.OUTPUT: (
            f"it has released up to {until(final)}, or may have, and what was shown is never"
            " contradicted"
        ),
    }
    raise RecoveryError(
        f"the {asked}: {gone[role]}. To keep a window for repairs, run the flow with"
        " `--monitor external` beside `falkirk monitor --behind EPOCHS`"
    )


def listed(times: list[Any]) -> str:
    """Some times in words."""
    if len(times) > 4:
        return f"{at(times[0])} to {at(times[-1])}"
    return ", ".join(map(at, times))


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

    store.repair(
        Retract(frontiers, incarnations),
        {
            "who": f"{user()}@{socket.gethostname()}",
            "what": "rollback",
            "to": dict(plan.to),
            "moved": {each.processor: each.goes_to.words for each in plan.moved},
            "why": reason,
        },
        check,
    )


def user() -> str:
    """Who is at the keyboard."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
