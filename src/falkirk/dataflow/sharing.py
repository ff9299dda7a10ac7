"""Outputs that would write to one place: refused, where their sinks cannot share it."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from falkirk.core.machine.flow import Role
from falkirk.dataflow.location import refusal
from falkirk.dataflow.node import Node

UNREAD = "_"
"""Begins the name of a folder that readers of the one around it pass over."""


def refuse_shared(output: Node, others: Iterable[Node]) -> None:
    """Refuses an output that would write to a place of another one's."""
    for other in others:
        if other.role is not Role.OUTPUT:
            continue
        for place in places(output):
            for taken in places(other):
                if place == taken:
                    if may_share(output, other):
                        continue
                    raise refusal(
                        f"{output.name!r} writes to {place}, and so does {other.name!r}"
                        f" ({other.location}): one would take what the other has written for its"
                        " own, and rows would be lost. Give each a place of its own, or unite the"
                        " two streams and write them once",
                        output.location,
                    )
                if lies_in(place, taken) or lies_in(taken, place):
                    raise refusal(
                        f"{output.name!r} writes to {place} and {other.name!r} ({other.location})"
                        f" to {taken}: one folder lies inside the other, and who reads the outer"
                        " one would read both, or delete the inner one's files as nobody's. Put"
                        " them side by side, or the inner one into a folder of the outer one's"
                        f" whose name begins with {UNREAD!r}",
                        output.location,
                    )


def places(output: Node) -> tuple[Any, ...]:
    """What no other output may write to."""
    found: tuple[Any, ...] = getattr(output.operator, "places", ())
    return found


def may_share(output: Node, other: Node) -> bool:
    """Whether two outputs of one kind may write to the very same place, each told by its name."""
    mine, others = output.operator, other.operator
    return type(mine) is type(others) and bool(getattr(mine, "shares", False))


def lies_in(inner: object, outer: object) -> bool:
    """Whether one folder is inside another, where readers see it.

    >>> out, dead = PurePath("/data/out"), PurePath("/data/out/dead")
    >>> lies_in(dead, out), lies_in(out, dead), lies_in(PurePath("/data/out/_dead"), out)
    (True, False, False)
    """
    if not isinstance(inner, PurePath) or not isinstance(outer, PurePath) or inner == outer:
        return False
    return inner.is_relative_to(outer) and not inner.relative_to(outer).parts[0].startswith(UNREAD)
