"""What differs between the live flow and a changed one, processor by processor."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from falkirk.core.errors import ConfigurationError
from falkirk.core.machine.flow import Role
from falkirk.core.times import ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.definition import definition
from falkirk.dataflow.description import describe
from falkirk.inspection.nearest import nearest
from falkirk.store.adoption import differences

Description = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """How a processor of the changed flow stands to the live one.

    ``what`` is same, new, shape (what is stored would be misread), code, or kept: its code changed,
    and it is to keep its state all the same.
    """

    processor: ProcessorId
    what: str
    why: str = ""

    @property
    def starts_again(self) -> bool:
        """Whether nothing that the live flow stored of it is of any use."""
        return self.what not in ("same", "kept")


def changes(
    live: Description,
    about: Description,
    blueprint: Blueprint,
    keep: Collection[str] = (),
    changed: Collection[str] = (),
) -> dict[ProcessorId, Change]:
    """How every processor of ``blueprint`` differs from the flow that ``live`` describes.

    ``keep`` names those that keep their state although their code changed, so that the change
    counts from the fork on. ``changed`` names those that start again whatever is known of them.
    """
    for name in (*keep, *changed):
        if name not in blueprint.nodes:
            raise ConfigurationError(
                f"the flow {blueprint.name!r} has no processor {name!r}"
                f"{nearest(name, blueprint.nodes)}"
            )
    given = describe(blueprint)
    found = {}
    for p in blueprint.nodes:
        change = compared(live, about, given, blueprint, p)
        if p in changed:
            change = Change(p, "code", "you say that it changed")
        elif p in keep and change.what in ("new", "shape"):
            raise ConfigurationError(
                f"{p!r} cannot keep what the live flow stored of it: {change.why}"
            )
        elif p in keep and change.what == "code":
            change = Change(p, "kept", f"{change.why}; that counts from here on")
        found[p] = change
    return found


def compared(
    live: Description, about: Description, given: Description, blueprint: Blueprint, p: ProcessorId
) -> Change:
    """How one processor differs."""
    if p not in live["processors"]:
        return Change(p, "new", "it is new")
    reshaped = list(differences(shape(live, p), shape(given, p)))
    if reshaped:
        return Change(p, "shape", reshaped[0])
    node = blueprint.nodes[p]
    if node.role is Role.OUTPUT:  # it stages rows, whatever the sink is
        return Change(p, "same")
    known = about.get("processors", {}).get(p, {}).get("definition")
    if known is None:
        return Change(p, "code", "the live store does not know its code")
    if known != definition(node.operator):
        return Change(p, "code", "its code or its parameters changed")
    return Change(p, "same")


def shape(description: Description, p: ProcessorId) -> dict[str, Any]:
    """What must be the same of ``p`` for its stored state to mean the same.

    An edge that leaves it counts only where what was sent on it is recorded.
    """
    own = dict(description["processors"][p])
    if own["role"] == Role.OUTPUT.value:
        del own["kind"]
    return {
        "processors": {p: own},
        "edges": {
            name: edge
            for name, edge in description["edges"].items()
            if edge["target"] == p or (edge["source"] == p and edge["projection"] == "recorded")
        },
        "latest": [bridge for bridge in description["latest"] if p in bridge.values()],
    }


def removed(live: Description, blueprint: Blueprint) -> tuple[str, ...]:
    """The processors of the live flow that the changed one has not."""
    return tuple(sorted(set(live["processors"]) - set(blueprint.nodes)))
