"""Keys as positions: what a store can keep as JSON, and a database can compare."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import Column, Date, DateTime, Numeric, Uuid

from falkirk.core.errors import PermanentError


def to_position(key: Any) -> Any:
    """A key as JSON has it.

    >>> to_position(7), to_position(datetime(2024, 2, 29, 12, 30)), to_position(Decimal("1.50"))
    (7, '2024-02-29T12:30:00', '1.50')
    """
    if isinstance(key, datetime | date):
        return key.isoformat()
    if isinstance(key, Decimal | UUID):
        return str(key)
    if isinstance(key, int | str) and not isinstance(key, bool):
        return key
    raise PermanentError(
        f"a key of type {type(key).__name__} has no order that could be relied on: read by a"
        " number, a text, a date or a moment"
    )


def to_key(position: Any, column: Column[Any]) -> Any:
    """The key that a position stands for."""
    kind = column.type
    if isinstance(kind, DateTime):
        return datetime.fromisoformat(position)
    if isinstance(kind, Date):
        return date.fromisoformat(position)
    if isinstance(kind, Numeric):
        return Decimal(position)
    return UUID(position) if isinstance(kind, Uuid) else position
