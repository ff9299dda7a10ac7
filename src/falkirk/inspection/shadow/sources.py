"""Which sources can be read beside a live flow that reads them too.

A source says so by an attribute. ``shared``: others may read what it gives, and ``commit`` takes
nothing away from them. ``keeps``: besides, nothing ever goes, and ``initial()`` is before the very
first row. For falkirk's own sources it is known.
"""

from typing import Any

KEEPING = frozenset({"Files", "Numbers", "TableSource"})
SHARED = frozenset({"KafkaSource"})


def keeps(source: Any) -> bool:
    """Whether all that a source ever gave can be read again from the start."""
    found = getattr(source, "keeps", None)
    return bool(found) if found is not None else ours(source) in KEEPING


def shared(source: Any) -> bool:
    """Whether a source can be read by two flows at once."""
    found = getattr(source, "shared", None)
    return bool(found) if found is not None else keeps(source) or ours(source) in SHARED


def ours(source: Any) -> str:
    """The name of the class, if it is one of falkirk's connectors."""
    kind = type(source)
    return kind.__name__ if kind.__module__.startswith("falkirk.connectors") else ""
