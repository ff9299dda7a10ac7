"""What a page is told about a flow, as plain values: the picture, and what changes in it.

A frontier is a pair: in words, and as a place on an axis of epochs. Nothing is at -1, and
everything has no place, which is null.
"""

import math
from collections.abc import Mapping
from typing import Any

from falkirk.core.frontier import SequenceFrontier
from falkirk.core.times import EdgeId, ProcessorId, SequenceNumber
from falkirk.inspection.look import Look
from falkirk.inspection.supposing import completed
from falkirk.inspection.words import at, until
from falkirk.runtime.progress import EdgeProgress, ProcessorProgress, Progress
from falkirk.telemetry.epochs import last_epoch

Values = dict[str, Any]
ALL = "everything"


def marked(frontier: Any) -> list[Any]:
    """A frontier in words and as a place."""
    if frontier is None:
        return ["unknown", -1]
    place = last_epoch(frontier)
    if isinstance(frontier, SequenceFrontier) and len(frontier.counts) == 1:
        return [f"message {int(place) + 1}", int(place)] if math.isfinite(place) else [ALL, None]
    return [until(frontier), None if place == float("inf") else int(place)]


def graph_of_progress(progress: Progress, look: Look | None) -> Values:
    """The picture of a flow that runs; ``look`` adds what only its store knows."""
    return {
        "flow": progress.flow,
        "processors": [
            {
                "name": p,
                "role": each.role,
                "regime": each.policy,
                "policy": look.policy(p) if look else each.policy,
                "kind": look.kind(p) if look else "",
                "location": look.location(p) if look else "",
                "numbered": isinstance(each.completed, SequenceFrontier),
            }
            for p, each in progress.processors.items()
        ],
        "edges": [
            edge(name, each.source, each.target, each.projection)
            for name, each in progress.edges.items()
        ],
    }


def graph_of_look(look: Look) -> Values:
    """The picture of a flow in a store."""
    described = look.description["processors"]
    return {
        "flow": look.name,
        "processors": [
            {
                "name": p,
                "role": each.role.value,
                "regime": described[p]["regime"],
                "policy": look.policy(p),
                "kind": look.kind(p),
                "location": look.location(p),
                "numbered": look.flow.numbered(p),
            }
            for p, each in look.flow.processors.items()
        ],
        "edges": [
            edge(name, each.source, each.target, each.projection.name)
            for name, each in look.flow.graph.edges.items()
        ],
    }


def edge(name: EdgeId, source: ProcessorId, target: ProcessorId, projection: str) -> Values:
    """One edge of a picture."""
    return {"name": name, "source": source, "target": target, "projection": projection}


def value_of(each: ProcessorProgress, rate: float | None) -> Values:
    """How a processor stands that runs; ``rate`` is its rows a second.

    Where events have come and never a row, nobody counts: jobs are not run for that.
    """
    counted = bool(each.rows or not each.events)
    return {
        "completed": marked(each.completed),
        "saved": marked(each.saved),
        "watermark": marked(each.watermark),
        "open": sorted({place(time) for time in each.open}),
        "open_words": [at(time) for time in each.open[:3]],
        "lag": round(each.lag_seconds, 3),
        "rate": rate if counted else None,
        "rows": each.rows if counted else None,
        "events": each.events,
        "queued": each.queued,
        "state_rows": each.state_rows,
        "state_bytes": each.state_bytes,
        "incarnation": each.incarnation,
        "suspected": each.suspected,
        "replaying": each.replaying,
        "unacknowledged": each.unacknowledged if each.role == "input" else None,
        "rounds": each.rounds,
    }


def place(time: Any) -> int:
    """Where a time lies on the axis."""
    return int(time.number) - 1 if isinstance(time, SequenceNumber) else int(time[0])


def edge_value(each: EdgeProgress) -> list[int]:
    """What waits on an edge, and what could be sent again."""
    return [each.queued, each.logged]


def values_of_look(look: Look) -> dict[ProcessorId, Values]:
    """How processors stand by their store: what is not durable is not known."""
    done = completed(look)
    stored: dict[ProcessorId, dict[str, int]] = {}
    for use in look.uses:
        stored.setdefault(use.processor, {})[use.batch] = use.size
    return {
        p: {
            "completed": marked(done[p]),
            "saved": marked(look.saved(p)),
            "watermark": marked(look.solution.frontiers[p]),
            "open": [],
            "open_words": [],
            "lag": None,
            "rate": None,
            "rows": None,
            "events": None,
            "queued": None,
            "state_rows": None,
            "state_bytes": sum(stored.get(p, {}).values()),
            "incarnation": look.stored[p].incarnation,
            "suspected": False,
            "replaying": False,
            "unacknowledged": None,
            "rounds": 0,
        }
        for p in look.flow.processors
    }


def edge_values_of_look(look: Look) -> dict[EdgeId, list[Any]]:
    """What is logged for each edge."""
    logged = dict.fromkeys(look.flow.graph.edges, 0)
    for stored in look.stored.values():
        for record in stored.ledger.records.values():
            for message in record.sent:
                logged[message.edge] += 1
    return {name: [None, count] for name, count in logged.items()}


def changed(before: Mapping[Any, Any], now: Mapping[Any, Any]) -> dict[Any, Any]:
    """What is not as it was."""
    return {key: value for key, value in now.items() if before.get(key) != value}
