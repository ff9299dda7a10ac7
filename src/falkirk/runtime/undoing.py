"""Outputs that can take back what they have shown, and what is left for them to take back.

A sink may have ``undo(name, kept)``: it forgets every time outside ``kept``. That is noted in the
transaction that takes its processor back, and done before it gets another time, by this run or by
the next one; it may happen twice.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import ConnectorError
from falkirk.core.times import ProcessorId
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
        if hasattr(sink, "undo") and getattr(sink, "exactly_once", False)
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
            raise ConnectorError(
                f"the sink {p!r} could not take back what lies outside {kept!r}:"
                f" {type(error).__name__}: {error}. Mend that and run again"
            ) from error
    return Note(dict.fromkeys(UNDO + p for p in outputs))


def undo_what_is_left(blueprint: "Blueprint", store: "Store") -> None:
    """Before a run begins: what a rollback has left for sinks to take back."""
    left = store.noticeboard.undone()
    if outputs := {p: kept for p, kept in left.items() if p in undoing(blueprint)}:
        store.transact([undo(blueprint, outputs)])
