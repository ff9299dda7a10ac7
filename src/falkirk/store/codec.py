"""Times, frontiers and checkpoint metadata as JSON: readable, exact, and without a domain at hand.

A structured time is a list of integers and a sequence number a list of an edge and a number. A
frontier says of which kind it is: ``{"total": [1, "inf"]}``, ``{"product": [[0, "inf"], [1, 3]]}``
or ``{"sequence": {"e": 4}, "default": 0}``. ∅ and ⊤ need no words of their own.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.errors import StoreError
from falkirk.core.frontier import ProductFrontier, SequenceFrontier, TotalFrontier
from falkirk.core.times import INF, EdgeId, SequenceNumber


def text(value: Any) -> str:
    """The canonical text of a JSON value: equal values have equal texts.

    >>> text({"b": [1, 2], "a": None})
    '{"a":null,"b":[1,2]}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"{str(value)[:200]} cannot be stored: {error}; a batch that is not a JSON value needs"
            " a reference to a durable one"
        ) from error


def parsed(written: str) -> Any:
    """The JSON value that :func:`text` wrote."""
    try:
        return json.loads(written)
    except ValueError as error:
        raise StoreError(
            f"a row of the store is damaged: {written[:80]!r} is not JSON; restore its database"
        ) from error


def time_to_json(time: Any) -> list[Any]:
    """A time of either kind.

    >>> time_to_json((3, 1)), time_to_json(SequenceNumber("e", 4))
    ([3, 1], ['e', 4])
    """
    return list(time)


def time_from_json(value: list[Any]) -> Any:
    """The time that :func:`time_to_json` wrote."""
    if value and isinstance(value[0], str):
        return SequenceNumber(EdgeId(value[0]), value[1])
    return tuple(value)


def time_key(time: Any) -> str:
    """A time as a key of a table.

    >>> time_key((3, 1)), time_key(SequenceNumber("e", 4))
    ('[3,1]', '["e",4]')
    """
    return text(time_to_json(time))


def time_from_key(key: str) -> Any:
    """The time of which ``key`` is the key."""
    return time_from_json(parsed(key))


def frontier_to_json(frontier: Any) -> dict[str, Any]:
    """A frontier of any kind.

    >>> frontier_to_json(TotalFrontier((1, INF))), frontier_to_json(ProductFrontier())
    ({'total': [1, 'inf']}, {'product': []})
    """
    if isinstance(frontier, TotalFrontier):
        return {"total": _coordinates(frontier)}
    if isinstance(frontier, ProductFrontier):
        return {"product": [_coordinates(time) for time in frontier.maximal]}
    if isinstance(frontier, SequenceFrontier):
        return {
            "sequence": {edge: _coordinate(count) for edge, count in frontier.counts},
            "default": _coordinate(frontier.default),
        }
    raise StoreError(f"{frontier!r} is not a frontier, so it cannot be stored")


def frontier_from_json(value: Mapping[str, Any]) -> Any:
    """The frontier that :func:`frontier_to_json` wrote."""
    match value:
        case {"total": time}:
            return TotalFrontier(_numbers(time))
        case {"product": times}:
            return ProductFrontier([tuple(_numbers(time)) for time in times])
        case {"sequence": counts, "default": default}:
            numbers = {EdgeId(edge): _number(count) for edge, count in counts.items()}
            return SequenceFrontier(numbers, _number(default))
    raise StoreError(f"{value!r} is not a frontier: the store is damaged or of another version")


def frontier_key(frontier: Any) -> str:
    """A frontier as a key of a table."""
    return text(frontier_to_json(frontier))


def frontier_from_key(key: str) -> Any:
    """The frontier of which ``key`` is the key."""
    return frontier_from_json(parsed(key))


def edges_to_json(frontiers: Mapping[EdgeId, Any]) -> dict[str, Any]:
    """A frontier for each edge."""
    return {edge: frontier_to_json(frontier) for edge, frontier in frontiers.items()}


def edges_from_json(value: Mapping[str, Any]) -> dict[EdgeId, Any]:
    """What :func:`edges_to_json` wrote."""
    return {EdgeId(edge): frontier_from_json(frontier) for edge, frontier in value.items()}


def checkpoint_to_json(checkpoint: Checkpoint) -> dict[str, Any]:
    """Ξ(p, f)."""
    notified = checkpoint.notified
    return {
        "frontier": frontier_to_json(checkpoint.frontier),
        "notified": None if notified is None else frontier_to_json(notified),
        "processed": edges_to_json(checkpoint.processed),
        "discarded": edges_to_json(checkpoint.discarded),
        "projected": edges_to_json(checkpoint.projected),
    }


def checkpoint_from_json(value: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint that :func:`checkpoint_to_json` wrote."""
    notified = value["notified"]
    return Checkpoint(
        frontier_from_json(value["frontier"]),
        None if notified is None else frontier_from_json(notified),
        edges_from_json(value["processed"]),
        edges_from_json(value["discarded"]),
        edges_from_json(value["projected"]),
    )


def _coordinates(time: Iterable[Any]) -> list[Any]:
    return [_coordinate(value) for value in time]


def _coordinate(value: Any) -> Any:
    return "inf" if value == INF else value


def _numbers(values: Iterable[Any]) -> list[Any]:
    return [_number(value) for value in values]


def _number(value: Any) -> Any:
    return INF if value == "inf" else value
