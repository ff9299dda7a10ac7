"""What failures have changed: two outputs side by side, as words for a person."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

ROWS_MAX = 5
"""So many rows are shown of those that are missing, or there too often."""


def difference(name: str, expected: Any, found: Any) -> str | None:
    """Where two results of an output differ, time by time if they are kept so."""
    if expected == found:
        return None
    if isinstance(expected, dict) and isinstance(found, dict):
        for time in sorted({*expected, *found}):
            if expected.get(time) != found.get(time):
                return (
                    f"{name!r} at {time}:\n  without failures  {expected.get(time, 'nothing')}"
                    f"\n  with failures     {found.get(time, 'nothing')}"
                )
    return f"{name!r}:\n  without failures  {expected}\n  with failures     {found}"


def lack(name: str, expected: Iterable[Any], found: Iterable[Any]) -> str | None:
    """What an at-least-once output lacks: every row is there at least as often as it should be."""
    missing = beyond(expected, found)
    if not missing:
        return None
    return f"{name!r}, which promises at least once:\n  missing   {shown(missing)}"


def unlike(name: str, expected: Iterable[Any], found: Iterable[Any]) -> str | None:
    """What the outside shows too often or lacks, whatever the order of the rows."""
    expected, found = list(expected), list(found)
    missing, surplus = beyond(expected, found), beyond(found, expected)
    if not missing and not surplus:
        return None
    lines = [
        f"{name!r}, as the outside shows it: {len(found)} rows instead of {len(expected)}",
        *([f"  missing   {shown(missing)}"] if missing else []),
        *([f"  too often {shown(surplus)}"] if surplus else []),
    ]
    return "\n".join(lines)


def beyond(rows: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """The rows that are not among ``others``, or not as often: each as often as it is in excess.

    >>> beyond([{"n": 1}, {"n": 1}, {"n": 2}], [{"n": 1}])
    [{'n': 1}, {'n': 2}]
    """
    left = Counter(map(key, others))
    found = []
    for row in rows:
        left[key(row)] -= 1
        if left[key(row)] < 0:
            found.append(row)
    return found


def key(row: Any) -> str:
    """What tells a row from others; the order of its columns does not."""
    return repr(sorted(row.items(), key=repr)) if isinstance(row, dict) else repr(row)


def shown(rows: list[Any]) -> str:
    """Some rows, and how many more there are."""
    more = f" and {len(rows) - ROWS_MAX} more" if len(rows) > ROWS_MAX else ""
    return f"{rows[:ROWS_MAX]}{more}"
