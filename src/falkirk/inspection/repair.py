"""A person's rollback: a plan that names every frontier, and then exactly that plan or none.

The plan is the solver's own answer with one bound more, f(p) ⊆ what was asked for. It is refused
where state is gone, where a source may have forgotten, and where an output may have shown what
would be undone.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.errors import ConfigurationError, RecoveryError, StoreError
from falkirk.core.machine.flow import Role
from falkirk.core.projection import Identity
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import Look
from falkirk.inspection.supposing import Fate, Reread, Resent, fate, rereads, resends
from falkirk.inspection.words import Mark, at, until
from falkirk.runtime.history import reasons
from falkirk.store.codec import frontier_to_json
from falkirk.store.pins import Pinned

FORMAT = 1
"""The version of a saved plan."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a repair will do.

    ``moves`` names those that go back, and ``incarnations`` has their next ones. ``frontiers`` has
    those of them that keep anything; the others follow by themselves. ``bounds`` is what was asked
    for, ``standing`` has everybody's incarnation, ``pins`` those that lie in what is undone and go
    with it, ``undo`` the outputs that take back what they have shown. A plan for a flow that is
    ``running`` says how far back it goes at most.
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
    running: bool = False
    bounds: Mapping[str, Any] = field(default_factory=dict)
    standing: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, Any] = field(default_factory=dict)
    pins: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()

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
            "pins": tuple(value.get("pins", ())),
            "undo": tuple(value.get("undo", ())),
        }
        return Plan(**{**value, **given})
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{name} is no plan of `falkirk rollback --save`: {error}") from None


def plan_rollback(look: Look, bounds: Mapping[ProcessorId, Any], pin: str = "") -> Plan:
    """The smallest rollback that puts every processor of ``bounds`` inside its bound.

    The bounds may be those of a ``pin``.
    """
    if look.holder.state == "expired":
        refuse_live(look)
    for p, bound in bounds.items():
        if not pin:
            refuse_beyond(look, p, bound, "nothing of it would be undone; name an earlier time")
        refuse_final(look, p, bound)
    solution, before = bounded(look, bounds), look.solution.frontiers
    moves = tuple(p for p, frontier in solution.frontiers.items() if frontier != before[p])
    moved = {p: solution.frontiers[p] for p in moves if not look.flow.restores_anywhere(p)}
    for p, frontier in moved.items():
        refuse_final(look, p, frontier)
    return Plan(
        FORMAT,
        look.name,
        look.place,
        datetime.fromtimestamp(look.now, UTC).isoformat(timespec="seconds"),
        look.fingerprint,
        {"everything": f"pin {pin}"} if pin else {p: until(f) for p, f in bounds.items()},
        moves,
        {p: frontier_to_json(frontier) for p, frontier in moved.items()},
        {p: look.stored[p].incarnation + 1 for p in moves},
        tuple(fate(look, solution, p, failed=False) for p in look.flow.processors),
        tuple(rereads(look, solution)),
        tuple(resends(look, solution)),
        look.holder.state == "live",
        {p: frontier_to_json(bound) for p, bound in bounds.items()},
        {p: stored.incarnation for p, stored in look.stored.items()},
        {p: reasons(solution.why(p)) for p in moved},
        tuple(pin.name for pin in look.pins if pin.outside(moved)),
        tuple(p for p, f in moved.items() if look.undoes(p) and not look.final(p) <= f),
    )


def bounds_of(look: Look, pin: Pinned) -> dict[ProcessorId, Any]:
    """What everybody is to keep in order to be where ``pin`` was set.

    Stateless processors follow by themselves, and who promises nothing may have seen more.
    """
    flow = look.flow
    return {
        p: frontier
        for p, frontier in pin.frontiers.items()
        if not flow.restores_anywhere(p) and not flow.processors[p].policy.tainted
    }


def bounded(look: Look, bounds: Mapping[ProcessorId, Any]) -> Solution:
    """The solution in which every processor of ``bounds`` keeps no more than its bound."""
    offered: dict[ProcessorId, Restorable] = dict(look.restorables)
    for p, bound in bounds.items():
        restorable = offered[p]
        if isinstance(restorable, Chain):
            inside = [c for c in look.stored[p].checkpoints if c.frontier <= bound]
            if restorable.frontiers[0].is_empty:
                inside.insert(0, Checkpoint(restorable.frontiers[0]))
            if not inside:
                raise RecoveryError(
                    f"{p!r} has no checkpoint up to {until(bound)}: its oldest one is"
                    f" {until(restorable.frontiers[0])}"
                )
            offered[p] = Chain(look.flow.recovery, p, inside)
        else:
            offered[p] = AnyFrontier(bound, failed=True)
    return solve(look.flow.recovery, offered)


def refuse_live(look: Look) -> None:
    """Refuses a store that somebody runs on."""
    if look.holder.state in ("live", "expired"):
        raise StoreError(
            f"the store at {look.place} is in use by process {look.holder.pid} on"
            f" {look.holder.host}: stop that process first"
        )


def refuse_beyond(look: Look, p: ProcessorId, bound: Any, so: str) -> None:
    """Refuses a bound that has all of ``p`` inside and more: its time has not come.

    Where times are partly ordered, a bound that has more and yet not all is no mistake.
    """
    come = reached(look, p)
    if come <= bound and come != bound:
        raise ConfigurationError(
            f"{p!r} has reached {until(come)} by what the store holds, and {until(bound)} is beyond"
            f" that: {so}"
        )


def reached(look: Look, p: ProcessorId) -> Any:
    """How far ``p`` has come by what the store holds of it, and of those who get its times.

    Who completes a time proves that those before it have, although they may not have saved it.
    """
    found, pending = {p}, [p]
    frontier = look.flow.graph.domains[p].empty
    while pending:
        q = pending.pop()
        frontier |= look.saved(q) | look.solution.frontiers[q]
        for edge in look.flow.graph.outputs(q):
            same = isinstance(edge.projection, Identity) and edge.projection.same
            if same and edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    return frontier


def refuse_final(look: Look, p: ProcessorId, frontier: Any) -> None:
    """Below a low-watermark on which the run has acted there is nothing to go back to."""
    final, role = look.final(p), look.flow.processors[p].role
    floor = look.stored[p].ledger.base.frontier
    if final <= frontier or is_prompt(look, p) or (look.undoes(p) and floor <= frontier):
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
        f"the {asked}: {gone[role]}. To be able to go back another time, pin one beforehand"
        + (" and hold outputs back" if role is Role.OUTPUT else "")
        + (": `falkirk pin NAME" + (" --hold-outputs" if role is Role.OUTPUT else "") + "`")
        + "; or keep a window, with `--monitor external` beside `falkirk monitor --behind EPOCHS`"
    )


def is_prompt(look: Look, p: ProcessorId) -> bool:
    """Whether ``p`` is an output that promises nothing: what it has shown is shown again."""
    processor = look.flow.processors[p]
    tainted = processor.role is Role.OUTPUT and processor.policy.tainted
    return tainted and p not in look.flow.latest


def listed(times: list[Any]) -> str:
    """Some times in words."""
    if len(times) > 4:
        return f"{at(times[0])} to {at(times[-1])}"
    return ", ".join(map(at, times))
