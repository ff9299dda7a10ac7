"""The types of a request's columns: what JSON may stand there, and what becomes of it in Arrow.

Each check raises ``Misfit`` with the place inside the value, so that a client learns which
field of which row is wrong.
"""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal, InvalidOperation
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.connectors.http.misfit import Misfit

EXACT = Context(prec=80)
"""Room for every decimal number that there can be, and then some."""


@dataclass(frozen=True, slots=True)
class Type:
    """One type: its name in SQL, Arrow's type, and ``read(value, place)`` for JSON values."""

    name: str
    arrow: Any
    read: Callable[[Any, str], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A column, or a field of a struct."""

    name: str
    type: Type
    nullable: bool = True

    @property
    def arrow(self) -> Any:
        """The field in an Arrow schema."""
        return pa.field(self.name, self.type.arrow, self.nullable)


def integer(name: str, arrow: Any, bits: int) -> Type:
    """Whole numbers of so many bits."""
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    def read(value: Any, place: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Misfit(place, f"{shown(value)} is no {name}")
        if not low <= value <= high:
            raise Misfit(place, f"{value} does not fit into {name}")
        return value

    return Type(name, arrow, read)


def real(name: str, arrow: Any) -> Type:
    """Floating-point numbers; what is not a number cannot be written in JSON."""

    def read(value: Any, place: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Misfit(place, f"{shown(value)} is no {name}")
        try:
            number = float(value)
        except OverflowError:
            raise Misfit(place, f"{shown(value)} does not fit into {name}") from None
        if not math.isfinite(number):
            raise Misfit(place, f"{shown(value)} does not fit into {name}")
        return number

    return Type(name, arrow, read)


def decimal(precision: int, scale: int) -> Type:
    """Decimal numbers, as JSON numbers or, to lose no digit, as strings."""
    name = f"DECIMAL({precision},{scale})"

    def read(value: Any, place: str) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise Misfit(place, f"{shown(value)} is no {name}")
        try:
            number = Decimal(str(value))
            fitting = number.quantize(Decimal(1).scaleb(-scale), context=EXACT)
        except InvalidOperation:
            raise Misfit(place, f"{shown(value)} is no {name}") from None
        if fitting != number or len(fitting.as_tuple().digits) > precision:
            raise Misfit(place, f"{shown(value)} does not fit into {name}")
        return fitting

    return Type(name, pa.decimal128(precision, scale), read)


def text(value: Any, place: str) -> str:
    """A string that is text: half of a surrogate pair is none."""
    if not isinstance(value, str):
        raise Misfit(place, f"{shown(value)} is no STRING")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Misfit(place, "a string with half of a surrogate pair is no text") from None
    return value


def boolean(value: Any, place: str) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise Misfit(place, f"{shown(value)} is no BOOLEAN")
    return value


def binary(value: Any, place: str) -> bytes:
    """Bytes, as base64."""
    try:
        return base64.b64decode(text(value, place), validate=True)
    except (binascii.Error, ValueError):
        raise Misfit(place, f"{shown(value)} is no BINARY: write base64") from None


def day(value: Any, place: str) -> date:
    """A date as 2031-05-17."""
    try:
        return date.fromisoformat(text(value, place))
    except ValueError:
        raise Misfit(place, f"{shown(value)} is no DATE: write 2031-05-17") from None


def moment(value: Any, place: str) -> datetime:
    """A moment with its offset from UTC; without one it is UTC."""
    try:
        found = datetime.fromisoformat(text(value, place))
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Misfit(place, f"{shown(value)} is no TIMESTAMP: write 2031-05-17T10:00:00Z") from None


def local_moment(value: Any, place: str) -> datetime:
    """A moment on somebody's clock, without an offset."""
    try:
        found = datetime.fromisoformat(text(value, place))
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None:
        raise Misfit(
            place, f"{shown(value)} is no TIMESTAMP_NTZ: write 2031-05-17T10:00:00 with no offset"
        )
    return found


def array(inner: Type) -> Type:
    """A list of values of one type."""
    name = f"ARRAY<{inner.name}>"

    def read(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise Misfit(place, f"{shown(value)} is no {name}")
        return [
            None if each is None else inner.read(each, f"{place}[{i}]")
            for i, each in enumerate(value)
        ]

    return Type(name, pa.list_(inner.arrow), read)


def mapping(inner: Type) -> Type:
    """An object whose names are data."""
    name = f"MAP<STRING,{inner.name}>"

    def read(value: Any, place: str) -> list[tuple[str, Any]]:
        if not isinstance(value, dict):
            raise Misfit(place, f"{shown(value)} is no {name}")
        return [
            (text(key, place), None if each is None else inner.read(each, f"{place}.{key}"))
            for key, each in value.items()
        ]

    return Type(name, pa.map_(pa.string(), inner.arrow), read)


def struct(fields: tuple[Field, ...]) -> Type:
    """An object with known fields."""
    name = f"STRUCT<{','.join(f'{each.name}:{each.type.name}' for each in fields)}>"
    return Type(name, pa.struct([each.arrow for each in fields]), object_of(fields))


def object_of(fields: tuple[Field, ...]) -> Callable[[Any, str], dict[str, Any]]:
    """Reads an object that has these fields and no others; one that is missing is null."""
    known = {each.name for each in fields}

    def read(value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Misfit(place, f"{shown(value)} is no object")
        for given in value:
            if given not in known:
                names = ", ".join(each.name for each in fields)
                raise Misfit(inside(place, given), f"there is no such field: {names}")
        found = {}
        for each in fields:
            part = value.get(each.name)
            if part is None and not each.nullable:
                raise Misfit(inside(place, each.name), f"{each.type.name} NOT NULL is missing")
            found[each.name] = (
                None if part is None else each.type.read(part, inside(place, each.name))
            )
        return found

    return read


def inside(place: str, name: str) -> str:
    """The place of a field."""
    return f"{place}.{name}" if place else name


def shown(value: Any) -> str:
    """The beginning of a value, as a client wrote it."""
    written = json.dumps(value, ensure_ascii=True)
    return written if len(written) <= 40 else f"{written[:37]}…"


PLAIN = {
    "BOOLEAN": Type("BOOLEAN", pa.bool_(), boolean),
    "TINYINT": integer("TINYINT", pa.int8(), 8),
    "SMALLINT": integer("SMALLINT", pa.int16(), 16),
    "INT": integer("INT", pa.int32(), 32),
    "BIGINT": integer("BIGINT", pa.int64(), 64),
    "FLOAT": real("FLOAT", pa.float32()),
    "DOUBLE": real("DOUBLE", pa.float64()),
    "STRING": Type("STRING", pa.string(), text),
    "BINARY": Type("BINARY", pa.binary(), binary),
    "DATE": Type("DATE", pa.date32(), day),
    "TIMESTAMP": Type("TIMESTAMP", pa.timestamp("us", "UTC"), moment),
    "TIMESTAMP_NTZ": Type("TIMESTAMP_NTZ", pa.timestamp("us"), local_moment),
}
"""The types without parameters, by Spark's names."""

SAME = {
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "REAL": "FLOAT",
    "TIMESTAMP_LTZ": "TIMESTAMP",
}
"""Other names of the same."""
