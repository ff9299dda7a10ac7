"""What pages ask of a store; the answers are those of the commands."""

import secrets
from collections import OrderedDict
from dataclasses import asdict
from typing import Any

from falkirk.core.errors import ConfigurationError, FalkirkError, StoreError
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.times import INF, ProcessorId
from falkirk.inspection.carrying import carry_out
from falkirk.inspection.causes import Causes
from falkirk.inspection.look import Look, look, look_at, opened
from falkirk.inspection.pinning import planned, put, remove
from falkirk.inspection.pins import described, pins_of, read_bounds, the_pin
from falkirk.inspection.repair import plan_rollback, read_plan, refuse_live
from falkirk.inspection.retention import orphans_of, retention_of
from falkirk.inspection.supposing import named, suppose
from falkirk.inspection.times import START
from falkirk.inspection.words import until

PLANS_MAX = 32


class Answers:
    """Answers from one store; plans that were shown are kept, for those alone are carried out."""

    def __init__(self, place: str | None) -> None:
        """From the store at ``place``; None where nobody else can open it."""
        self._place = place
        self._plans: OrderedDict[str, str] = OrderedDict()

    @property
    def place(self) -> str:
        """Where the store is."""
        if self._place is None:
            raise StoreError(
                "this run keeps its store in memory, where nobody can look at it: run it with"
                " a folder or a database as its store"
            )
        return self._place

    def explain(self, name: str) -> dict[str, Any]:
        """Why a processor stands where it does, and where it could go back to."""
        seen = look_at(self.place)
        (p,) = named(seen, [name])
        causes = Causes(seen)
        return {
            **asdict(causes.reasoning(p)),
            "location": seen.location(p),
            "choices": choices(seen, p),
        }

    def what_if(self, names: list[str]) -> dict[str, Any]:
        """What would happen if these failed."""
        return asdict(suppose(look_at(self.place), names))

    def storage(self) -> dict[str, Any]:
        """What is kept, and who is the reason."""
        with opened(self.place) as store:
            seen = look(store)
            pins = [asdict(each) for each in pins_of(seen)]
            return asdict(retention_of(seen, orphans_of(store, seen))) | {"pins": pins}

    def plan_pin(self, name: str, outputs: bool, why: str) -> dict[str, Any]:
        """The pin that would be made now; nothing is changed."""
        seen = look_at(self.place)
        return asdict(described(seen, planned(seen, name, {}, outputs, why)))

    def pin(self, name: str, outputs: bool, why: str) -> dict[str, Any]:
        """Pins the present."""
        if not why.strip():
            raise ConfigurationError("nothing was changed: say why; it is kept with the pin")
        with opened(self.place) as store:
            seen = look(store)
            put(store, seen, planned(seen, name, {}, outputs, why.strip()), {})
        return {"done": True}

    def unpin(self, name: str, confirmed: str, why: str) -> dict[str, Any]:
        """Lets a pin go, if its name was typed."""
        with opened(self.place) as store:
            seen = look(store)
            the_pin(seen, name)
            if confirmed != name:
                raise ConfigurationError(f"nothing was changed: type {name!r} to confirm")
            remove(store, seen, name, why.strip())
        return {"done": True}

    def repairs(self) -> dict[str, Any]:
        """Whether a repair is possible now, and which there were."""
        seen = look_at(self.place)
        refused = None
        if seen.holder.state == "expired":
            try:
                refuse_live(seen)
            except FalkirkError as error:
                refused = str(error)
        return {
            "refused": refused,
            "running": seen.holder.state == "live",
            "audit": [dict(entry) for entry in seen.audit][::-1],
        }

    def plan(self, targets: list[str]) -> dict[str, Any]:
        """The plan that takes processors back, each ``P@TIME``; it is kept under its ``id``."""
        seen = look_at(self.place)
        bounds = read_bounds(seen, targets)
        if not bounds:
            raise ConfigurationError("say who goes back where, as PROCESSOR@TIME")
        plan = plan_rollback(seen, bounds)
        key = secrets.token_urlsafe(12)
        self._plans[key] = plan.text()
        while len(self._plans) > PLANS_MAX:
            self._plans.popitem(last=False)
        return {
            "id": key,
            "empty": not plan.frontiers,
            **asdict(plan),
            "text": plan.text(),
        }

    def apply(self, key: str, confirmed: str, reason: str) -> dict[str, Any]:
        """Carries out exactly the plan that was shown, or nothing."""
        if key not in self._plans:
            raise ConfigurationError("that plan is not known here any more: make a new one")
        plan = read_plan(self._plans[key], "the plan")
        if confirmed != plan.flow:
            raise ConfigurationError(f"nothing was changed: type {plan.flow!r} to confirm")
        if not reason.strip():
            raise ConfigurationError("nothing was changed: say why; it is kept with the repair")
        with opened(self.place) as store:
            carry_out(store, plan, reason.strip())
        del self._plans[key]
        return {"done": True, "moves": list(plan.moves)}


def choices(seen: Look, p: ProcessorId) -> list[dict[str, Any]]:
    """Where ``p`` could go back to: its checkpoints that nothing final depends on, and pins."""
    try:
        final = seen.stored[p].ledger.base.frontier if seen.undoes(p) else seen.final(p)
    except FalkirkError:
        return []
    frontiers = [checkpoint.frontier for checkpoint in seen.stored[p].checkpoints]
    found: list[dict[str, Any]] = [
        {"time": text, "words": until(frontier)}
        for frontier in frontiers
        if final <= frontier and (text := typed(frontier)) is not None
    ]
    found += [
        {"time": pin.name, "words": f"pin {pin.name}", "pin": True}
        for pin in seen.pins
        if p in pin.frontiers and final <= pin.frontiers[p]
    ]
    if final.is_empty:
        found.insert(0, {"time": START, "words": "nothing"})
    return found


def typed(frontier: Any) -> str | None:
    """A frontier as people type it, if it has one end.

    >>> from falkirk.core.frontier import TotalFrontier
    >>> typed(TotalFrontier((4, INF))), typed(TotalFrontier((4, 7))), typed(TotalFrontier())
    ('4', '4.7', 'start')
    """
    if frontier.is_empty:
        return START
    if isinstance(frontier, SequenceFrontier):
        return ",".join(f"{edge}={count}" for edge, count in frontier.counts)
    if frontier.is_top or len(frontier.maximal) != 1:
        return None
    return ".".join(str(c) for c in frontier.maximal[0] if c != INF)
