"""Columns of metadata, one for each edge, in which equal columns are one list.

Most processors tell the same of all their inputs, and the same of all their outputs: that M̄ is f,
that everything is logged. With a list shared by the edges that agree, a checkpoint costs memory for
what it says and not for the degree of its processor, and the solver reads what is in the cache.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from falkirk.core.times import EdgeId

Columns = dict[EdgeId, list[Any]]


def share(edges: Iterable[EdgeId]) -> Columns:
    """Empty columns for ``edges``, all of them one list."""
    shared: list[Any] = []
    return dict.fromkeys(edges, shared)


def append_row(columns: Columns, row: Mapping[EdgeId, Any]) -> list[Any] | None:
    """Appends to each column its value of ``row``; a list is split where its edges disagree.

    Returns the one list that all columns share, if they do.

    >>> columns = share(["d", "e", "h"])
    >>> append_row(columns, {"d": 1, "e": 1, "h": 1})
    [1]
    >>> append_row(columns, {"d": 2, "e": 3, "h": 2})
    >>> columns
    {'d': [1, 2], 'e': [1, 3], 'h': [1, 2]}
    >>> columns["d"] is columns["h"]
    True
    """
    if not row:
        return None
    if len(row) == 1:
        ((edge, value),) = row.items()
        columns[edge].append(value)
        return columns[edge]
    grown: dict[tuple[int, Any], list[Any]] = {}
    taken: set[int] = set()
    for edge, value in row.items():
        column = columns[edge]
        key = (id(column), value)
        chosen = grown.get(key)
        if chosen is None:
            # The first value keeps the list; another one gets a copy, made before either grows.
            chosen = grown[key] = column[:] if id(column) in taken else column
            taken.add(id(column))
        columns[edge] = chosen
    for (_, value), column in grown.items():
        column.append(value)
    return next(iter(grown.values())) if len(grown) == 1 else None
