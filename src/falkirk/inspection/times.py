"""Times as people type them: ``counts@4``, ``loop@4.2``, ``numbers@12``, ``counts@start``."""

from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.errors import ConfigurationError
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.graph import Graph
from falkirk.core.times import INF, Coordinate, EdgeId, ProcessorId
from falkirk.inspection.nearest import nearest

START = "start"


def read_bound(graph: Graph, text: str) -> tuple[ProcessorId, Any]:
    """The processor and the frontier that ``P@TIME`` means: all up to that time, and it too.

    ``start`` is before everything. An epoch alone is the whole of it, with all rounds; a round is
    added with a dot. Where messages are numbered the number of the last one is given, with its edge
    (``p@e=4``) where there are several.
    """
    name, found, time = text.rpartition("@")
    if not found:
        raise ConfigurationError(
            f"{text!r} is not PROCESSOR@TIME: write for instance counts@4, or counts@{START}"
        )
    if name not in graph.domains:
        raise ConfigurationError(f"there is no processor {name!r}{nearest(name, graph.domains)}")
    p = ProcessorId(name)
    domain = graph.domains[p]
    if time == START:
        return p, domain.empty
    try:
        if isinstance(domain, Structured):
            return p, domain.frontier([structured(time, domain.depth)])
        return p, SequenceFrontier(numbered(time, [edge.name for edge in graph.inputs(p)]), 0)
    except ValueError as error:
        raise ConfigurationError(f"{text!r}: {error}") from None


def structured(text: str, depth: int) -> tuple[Any, ...]:
    """A time of epochs and rounds.

    >>> structured("4", 1), structured("4", 2), structured("4.2", 2)
    ((4,), (4, inf), (4, 2))
    """
    parts = text.split(".")
    if not all(part.isdecimal() for part in parts) or len(parts) > depth:
        example = ".".join(["EPOCH", "ROUND", *["ROUND"] * (depth - 2)][:depth])
        or_epoch = " or EPOCH" if depth > 1 else ""
        raise ValueError(f"{text!r} is not {example}{or_epoch}: write for instance 4, or {START}")
    return (*map(int, parts), *(INF,) * (depth - len(parts)))


def numbered(text: str, edges: list[EdgeId]) -> dict[EdgeId, Coordinate]:
    """The last message of each edge.

    >>> numbered("4", ["e"]), numbered("d=1,e=4", ["d", "e"])
    ({'e': 4}, {'d': 1, 'e': 4})
    """
    if text.isdecimal() and len(edges) == 1:
        return {edges[0]: int(text)}
    counts = dict(pair.partition("=")[::2] for pair in text.split(","))
    if set(counts) != set(edges) or not all(count.isdecimal() for count in counts.values()):
        raise ValueError(f"{text!r} does not say {','.join(f'{edge}=NUMBER' for edge in edges)}")
    return {EdgeId(edge): int(count) for edge, count in counts.items()}
