"""What is told about a run as plain values, which JSON can hold."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from falkirk.core.frontier import ProductFrontier, SequenceFrontier, TotalFrontier
from falkirk.store.codec import frontier_to_json

FRONTIERS = (TotalFrontier, ProductFrontier, SequenceFrontier)


def plain(value: Any) -> Any:
    """Objects by their fields, frontiers as the store writes them, times as lists.

    >>> plain({"p": TotalFrontier((3,))}), plain((1, 2))
    ({'p': {'total': [3]}}, [1, 2])
    """
    if isinstance(value, FRONTIERS):
        return frontier_to_json(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in (sorted(value) if isinstance(value, set) else value)]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
