"""Frontiers as a problem writes them: ``"empty"``, ``"top"``, maximal times, or counts by edge."""

from typing import Any

from falkirk.core.domain import Domain, Structured
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.problem.document import fail, number_at, object_at, shown
from falkirk.core.times import INF, Coordinate, EdgeId


def read_frontier(place: str, domain: Domain, inputs: list[EdgeId], value: Any) -> Any:
    """The frontier of a processor with these ``inputs`` that ``value`` stands for.

    >>> from falkirk.core.domain import EPOCH, Sequence
    >>> read_frontier("complete", EPOCH, [], [[4]])
    ↓(4)
    >>> read_frontier("complete", Sequence(), ["d", "e"], {"d": 4, "e": "inf"})
    {d: 4, …: ∞}
    """
    if value in ("empty", "top"):
        return domain.empty if value == "empty" else domain.top
    if isinstance(domain, Structured):
        return _structured(place, domain, value)
    return _sequence(place, inputs, value)


def _structured(place: str, domain: Structured, value: Any) -> Any:
    if not isinstance(value, list):
        fail(place, f'expected "empty", "top" or a list of times, not {shown(value)}')
    times = []
    for i, time in enumerate(value):
        if not isinstance(time, list) or len(time) != domain.depth:
            expected = f"expected a time of {domain.depth} coordinates"
            fail(f"{place}[{i}]", f"{expected}, not {shown(time)}")
        times.append(
            tuple(_coordinate(f"{place}[{i}][{k}]", c, or_inf=k > 0) for k, c in enumerate(time))
        )
    if domain.total and len(times) > 1:
        fail(place, "times are totally ordered here: a frontier has one maximal time")
    return domain.frontier(times)


def _sequence(place: str, inputs: list[EdgeId], value: Any) -> SequenceFrontier:
    counts: dict[EdgeId, Coordinate] = dict.fromkeys(inputs, 0)
    for name, count in object_at(place, value).items():
        edge = EdgeId(name)
        if edge not in counts:
            fail(
                place, f"{shown(name)} is not an input edge; expected {', '.join(inputs) or 'none'}"
            )
        counts[edge] = _coordinate(f"{place}.{name}", count, or_inf=True)
    # Equal sets are equal values: what has all of some edge is written like ⊤, by what it lacks.
    return SequenceFrontier(counts, INF if INF in counts.values() else 0)


def _coordinate(place: str, value: Any, or_inf: bool) -> Coordinate:
    number: int | str = number_at(place, value, or_inf)
    return INF if isinstance(number, str) else number
