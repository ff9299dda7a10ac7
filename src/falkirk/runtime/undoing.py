"""Outputs that can take back what they have shown, and what is left for them to take back.

A sink may have ``undo(name, kept)``: it forgets every time outside ``kept``. That is noted in the
transaction that takes its processor back, and done before it gets another time, by this run or by
the next one; it may happen twice.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import ConnectorError
from falkirk.core.times import ProcessorId
from falkirk.runtime.described import described
from falkirk.store.codec import frontier_to_json
from falkirk.store.noting import UNDO, Note

if TYPE_CHECKING:
    from falkirk.dataflow.blueprint import Blueprint
    from falkirk.store import Store


def undoing(blueprint: "Blueprint") -> frozenset[ProcessorId]:
    """The outputs that can take something back; those that may repeat themselves need not."""
    sinks = {p: node.operator for p, node in blueprint.sinks.items()}
    return frozenset(
        p
        for p, sink in sinks.items()
        if getattr(sink, "undo", None) is not None and getattr(sink, "exactly_once", False)
    )


def to_undo(outputs: Mapping[ProcessorId, Any]) -> dict[str, Any]:
    """The facts that say so."""
    return {UNDO + p: frontier_to_json(kept) for p, kept in outputs.items()}


def undo(blueprint: "Blueprint", outputs: Mapping[ProcessorId, Any]) -> Note:
    """Has sinks forget what lies outside these frontiers; returns the note that it is done."""
    for p, kept in outputs.items():
        try:
            getattr(blueprint.sinks[p].operator, "undo")(p, kept)  # noqa: B009
        except Exception as error:
            raise not_undone(p, error) from error
    return Note(dict.fromkeys(UNDO + p for p in outputs))


def not_undone(p: ProcessorId, error: Exception) -> ConnectorError:
    """What stops a run: the next one asks again."""
    return described(error, f"the sink {p!r} could not take back what a rollback has undone")


def undo_what_is_left(blueprint: "Blueprint", store: "Store") -> None:
    """Before a run begins: what a rollback has left for sinks to take back.

    They are told whose times these are before: what belongs to another store is not touched.
    """
    left = store.noticeboard.undone()
    able = undoing(blueprint)
    if cannot := sorted(p for p in left if p not in able):
        raise ConnectorError(
            f"the flow was rolled back when the sink {cannot[0]!r} could take back what it had"
            " shown, and by now it is another one that cannot: run once with the former one"
        )
    if left:
        for p in left:
            attach(blueprint, p, store.identity)
        store.transact([undo(blueprint, left)])


def attach(blueprint: "Blueprint", p: ProcessorId, store: str) -> None:
    """Tells a sink whose output it takes, if it wants to know."""
    sink: Any = blueprint.sinks[p].operator
    if hasattr(sink, "attach"):
        try:
            sink.attach(p, store)
        except Exception as error:
            raise not_undone(p, error) from error
