"""The pins of a store, and what each of them costs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from falkirk.core.errors import ConfigurationError
from falkirk.core.machine.flow import Role
from falkirk.core.machine.ledger import within
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import Look, Use
from falkirk.inspection.nearest import nearest
from falkirk.inspection.times import read_bound
from falkirk.inspection.words import Mark, mark
from falkirk.store.pins import Pinned, held


@dataclass(frozen=True, slots=True)
class Cost:
    """What lies between a pin and the low-watermarks: without any pin it could be collected.

    ``alone_bytes`` would go if this pin alone went; ``epochs`` are not acknowledged because of it.
    """

    files: int
    bytes: int
    rows: int
    times: int
    epochs: int
    alone_bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A pin for people: where it keeps each processor, and what that costs."""

    name: str
    at: float
    who: str
    why: str
    outputs: bool
    frontiers: Mapping[str, Mark]
    cost: Cost


def pins_of(look: Look) -> list[Kept]:
    """The pins of a store, with what they cost."""
    return [described(look, pin) for pin in look.pins]


def described(look: Look, pin: Pinned) -> Kept:
    """A pin for people."""
    frontiers: dict[str, Mark] = {p: mark(look.flow.graph, p, f) for p, f in pin.frontiers.items()}
    cost = cost_of(look, pin)
    return Kept(pin.name, pin.at, pin.who, pin.why, pin.outputs, frontiers, cost)


def cost_of(look: Look, pin: Pinned) -> Cost:
    """What a pin holds back."""
    others = held(each for each in look.pins if each.name != pin.name).kept
    beyond = [use for use in look.uses if lies_beyond(look, use, pin.frontiers)]
    batches = {use.batch: use for use in beyond}
    alone = {use.batch: use.size for use in beyond if not lies_beyond(look, use, others)}
    times = epochs = 0
    for p, stored in look.stored.items():
        low, kept = look.solution.frontiers[p], pin.frontiers.get(p)
        if kept is None:
            continue
        count = sum(t in low and t not in kept for t in stored.ledger.records)
        times += count
        if look.flow.processors[p].role is Role.INPUT:
            epochs += count
    return Cost(
        len(batches),
        sum(use.size for use in batches.values()),
        sum(use.rows for use in batches.values()),
        times,
        epochs,
        sum(alone.values()),
    )


def lies_beyond(look: Look, use: Use, kept: Mapping[ProcessorId, Any]) -> bool:
    """Whether a batch is inside the low-watermark that decides over it, and outside ``kept``."""
    if use.time is None:
        return False
    graph, low = look.flow.graph, look.solution.frontiers
    if use.part == "record":
        p = use.processor
        return p in kept and use.time in low[p] and use.time not in kept[p]
    message = look.stored[use.processor].ledger.records[use.time].sent[int(use.part)]
    target = graph.edges[message.edge].target
    part = graph.domains[target].part
    if target not in kept or not within(message, part(low[target], message.edge)):
        return False
    return not within(message, part(kept[target], message.edge))


def the_pin(look: Look, name: str) -> Pinned:
    """The pin with this name."""
    for pin in look.pins:
        if pin.name == name:
            return pin
    raise ConfigurationError(
        f"there is no pin {name!r}{nearest(name, [pin.name for pin in look.pins])}"
    )


def read_bounds(look: Look, targets: Iterable[str]) -> dict[ProcessorId, Any]:
    """What ``P@TIME``, or ``P@NAME`` with the name of a pin, mean: a frontier for each P."""
    known = {pin.name: pin for pin in look.pins}
    found: dict[ProcessorId, Any] = {}
    for target in targets:
        name, _, at = target.rpartition("@")
        if at in known and name in known[at].frontiers:
            found[ProcessorId(name)] = known[at].frontiers[ProcessorId(name)]
            continue
        try:
            found |= [read_bound(look.flow.graph, target)]
        except ConfigurationError as error:
            if name not in look.flow.processors or not at[:1].isalpha():
                raise
            # No time begins with a letter, so a pin may be meant.
            hint = f"nor is there a pin {at!r}{nearest(at, known)}"
            raise ConfigurationError(f"{error.args[0]}; {hint}") from None
    return found
