"""Rows as records of Kafka: a key, a value, headers."""

import base64
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from falkirk.core.errors import PermanentError

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Shape:
    """Which columns become what; without ``value`` all columns are written as a JSON object."""

    key: str | None = None
    value: str | None = None
    headers: str | None = None

    def check(self, names: list[str], sink: str) -> None:
        """Refuses rows that lack a column."""
        for part in ("key", "value", "headers"):
            column = getattr(self, part)
            if column is not None and column not in names:
                raise PermanentError(
                    f"the sink {sink!r} takes the {part} from a column {column!r}, and the rows"
                    f" have {', '.join(names)}: select it, or name another one"
                )

    def records(self, batch: Any) -> Iterator[tuple[bytes | None, bytes | None, Headers]]:
        """The records of an Arrow batch."""
        for row in batch.to_pylist():
            headers = [] if self.headers is None else header_list(row.pop(self.headers))
            key = None if self.key is None else as_bytes(row[self.key])
            value = as_json(row) if self.value is None else as_bytes(row[self.value])
            yield key, value, headers


def header_list(given: Any) -> Headers:
    """Headers as Spark's connector has them: a list of keys with values."""
    return [(each["key"], each["value"]) for each in given or ()]


def as_bytes(value: Any) -> bytes | None:
    """Bytes as they are, text in UTF-8, all else as JSON.

    >>> as_bytes("é"), as_bytes(7), as_bytes(None)
    (b'\\xc3\\xa9', b'7', None)
    """
    if value is None or isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> bytes:
    """A value as JSON. Bytes are in base 64, moments as in ISO 8601, decimals are texts.

    >>> as_json({"n": 1, "b": b"ab", "x": float("nan")})
    b'{"n":1,"b":"YWI=","x":"NaN"}'
    """
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")).encode()


def plain(value: Any) -> Any:
    """A value in the types that JSON has."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else NOT_FINITE[str(value)]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
