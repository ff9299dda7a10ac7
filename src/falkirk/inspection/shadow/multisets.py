"""Two bags of rows, compared: how many are in one and not in the other, and what some look like.

Rows are told apart by digests, so what is held at once is one short digest for each distinct row of
the times that are compared, and no row but those that are shown.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Tables = Callable[[], Iterable[Any]]
"""Gives the Arrow tables of a bag, each time anew."""

SAMPLE = 3
BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Difference:
    """How two bags of rows differ."""

    live_rows: int
    shadow_rows: int
    only_live: int
    only_shadow: int
    live_sample: tuple[dict[str, Any], ...] = ()
    shadow_sample: tuple[dict[str, Any], ...] = ()

    @property
    def equal(self) -> bool:
        """Whether every row is in both as often."""
        return not self.only_live and not self.only_shadow


def difference(live: Tables, shadow: Tables, sample: int = SAMPLE) -> Difference:
    """How the rows of ``live`` and ``shadow`` differ, in any order and counting repetitions."""
    surplus: dict[bytes, int] = {}
    counts = [0, 0]
    for side, (tables, step) in enumerate(((live, 1), (shadow, -1))):
        for key, _ in rows(tables()):
            counts[side] += 1
            left = surplus.get(key, 0) + step
            if left:
                surplus[key] = left
            else:
                del surplus[key]
    only_live = sum(count for count in surplus.values() if count > 0)
    only_shadow = -sum(count for count in surplus.values() if count < 0)
    return Difference(
        counts[0],
        counts[1],
        only_live,
        only_shadow,
        shown(live, surplus, 1, sample) if only_live else (),
        shown(shadow, surplus, -1, sample) if only_shadow else (),
    )


def shown(
    tables: Tables, surplus: dict[bytes, int], sign: int, most: int
) -> tuple[dict[str, Any], ...]:
    """Some of the rows that are on one side only."""
    found: list[dict[str, Any]] = []
    taken: dict[bytes, int] = {}
    for key, row in rows(tables()):
        if len(found) == most:
            break
        if taken.get(key, 0) < sign * surplus.get(key, 0):
            taken[key] = taken.get(key, 0) + 1
            found.append({name: plain(value) for name, value in row.items()})
    return tuple(found)


def rows(tables: Iterable[Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Every row with its digest; the order of columns does not matter."""
    for table in tables:
        names = sorted(table.schema.names)
        for batch in table.select(names).to_batches(BATCH_ROWS):
            for row in batch.to_pylist():
                yield digest(row), row


def digest(row: dict[str, Any]) -> bytes:
    """What tells a row from others.

    >>> digest({"a": 1}) == digest({"a": 1}), digest({"a": 1}) == digest({"a": "1"})
    (True, False)
    """
    return hashlib.blake2b(repr(row).encode("utf-8", "replace"), digest_size=16).digest()


def plain(value: Any) -> Any:
    """A value as JSON can say it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value)
