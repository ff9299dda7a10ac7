"""Records, logged messages and bases as JSON, with durable batches by name.

A batch becomes ``{"name": …, "label": …}`` if it has a reference, with ``"start"`` and ``"rows"``
if it is a part of a file, and ``{"json": …}`` if it is a plain value. The references themselves are
collected on the way, for they are rows of their own.
"""

from collections.abc import Callable, Mapping
from typing import Any

from falkirk.core.errors import StoreError
from falkirk.core.machine.ledger import Base, Past, Record, Sent
from falkirk.core.machine.message import Message
from falkirk.core.times import EdgeId
from falkirk.store.codec import (
    edges_from_json,
    edges_to_json,
    frontier_from_json,
    frontier_to_json,
    time_from_json,
    time_to_json,
)
from falkirk.store.reference import Reference

References = dict[str, Reference]
"""The references that a piece of content names."""

Decode = Callable[[Mapping[str, Any]], Any]
"""Makes a batch of what :func:`batch_to_json` wrote."""


def batch_to_json(batch: Any, found: References) -> dict[str, Any]:
    """A batch; its reference, if it has one, is added to ``found``."""
    if not hasattr(batch, "reference"):
        return {"json": batch}
    reference = batch.reference
    if reference is None:
        raise StoreError("a batch must be durable before the record that needs it is stored")
    found[reference.name] = reference.whole
    written = {"name": reference.name, "label": batch.label}
    if reference.within:
        written |= {"start": reference.start, "rows": reference.rows}
    return written


def reference_of(written: Mapping[str, Any], whole: Reference) -> Reference:
    """The reference that :func:`batch_to_json` wrote, given that of the file or folder it names."""
    return whole.part(written["start"], written["rows"]) if "start" in written else whole


def sorted_times(times: Any) -> list[list[Any]]:
    """A set of times in canonical order."""
    return [time_to_json(time) for time in sorted(times)]


def times_from_json(value: list[Any]) -> set[Any]:
    """What :func:`sorted_times` wrote."""
    return {time_from_json(time) for time in value}


def record_to_json(record: Record, found: References) -> dict[str, Any]:
    """A record without its logged messages, which are rows of their own."""
    return {
        "delivered": [past_to_json(past, found) for past in record.delivered],
        "processed": sorted(record.processed),
        "notified": record.notified,
        "state": [batch_to_json(batch, found) for batch in record.state],
        "discarded": {edge: sorted_times(times) for edge, times in record.discarded.items()},
        "requests": sorted_times(record.requests),
        "first": dict(record.first),
        "closed": dict(record.closed),
        "durable": record.durable,
    }


def record_from_json(
    time: Any, value: Mapping[str, Any], sent: list[Message], decode: Decode
) -> Record:
    """The record that :func:`record_to_json` wrote, with its logged messages."""
    return Record(
        time,
        [past_from_json(past, decode) for past in value["delivered"]],
        {EdgeId(edge) for edge in value["processed"]},
        value["notified"],
        [decode(batch) for batch in value["state"]],
        sent,
        {EdgeId(edge): times_from_json(times) for edge, times in value["discarded"].items()},
        times_from_json(value["requests"]),
        value["first"],
        value["closed"],
        value["durable"],
    )


def past_to_json(past: Past, found: References) -> dict[str, Any]:
    """An event of a logged history."""
    return {
        "number": past.number,
        "edge": past.edge,
        "batch": batch_to_json(past.batch, found),
        "sent": [[sent.number, sent.edge, time_to_json(sent.time)] for sent in past.sent],
    }


def past_from_json(value: Mapping[str, Any], decode: Decode) -> Past:
    """The event that :func:`past_to_json` wrote."""
    return Past(
        value["number"],
        value["edge"],
        decode(value["batch"]),
        tuple(Sent(number, edge, time_from_json(time)) for number, edge, time in value["sent"]),
    )


def message_to_json(message: Message, found: References) -> dict[str, Any]:
    """What a row of the log says besides its columns."""
    return {"cause": time_to_json(message.cause), "batch": batch_to_json(message.batch, found)}


def message_from_json(
    number: int, edge: str, time: Any, value: Mapping[str, Any], decode: Decode
) -> Message:
    """The message that :func:`message_to_json` wrote."""
    cause = time_from_json(value["cause"])
    return Message(number, EdgeId(edge), time, cause, decode(value["batch"]))


def base_to_json(base: Base, found: References) -> dict[str, Any]:
    """What is folded below the low-watermark."""
    return {
        "frontier": frontier_to_json(base.frontier),
        "processed": edges_to_json(base.processed),
        "notified": frontier_to_json(base.notified),
        "discarded": edges_to_json(base.discarded),
        "state": [[time_to_json(time), batch_to_json(batch, found)] for time, batch in base.state],
        "requests": sorted_times(base.requests),
        "closed": dict(base.closed),
    }


def base_from_json(value: Mapping[str, Any], decode: Decode) -> Base:
    """The base that :func:`base_to_json` wrote."""
    return Base(
        frontier_from_json(value["frontier"]),
        edges_from_json(value["processed"]),
        frontier_from_json(value["notified"]),
        edges_from_json(value["discarded"]),
        [(time_from_json(time), decode(batch)) for time, batch in value["state"]],
        times_from_json(value["requests"]),
        value["closed"],
    )
