"""Rows that went out as JSON, read back as they were."""

import base64
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa


def parsed(row: dict[str, Any], schema: pa.Schema) -> dict[str, Any]:
    """A row as it was before it was JSON; columns that ``schema`` does not have are left alone."""
    types = {field.name: field.type for field in schema}
    return {name: value_of(value, types.get(name)) for name, value in row.items()}


def value_of(value: Any, kind: Any) -> Any:
    """A value as it was, by its column's type."""
    if value is None or kind is None:
        return value
    if pa.types.is_binary(kind):
        return base64.b64decode(value)
    if pa.types.is_floating(kind):
        return float(value)
    if pa.types.is_decimal(kind):
        return Decimal(value)
    if pa.types.is_date(kind):
        return date.fromisoformat(value)
    if pa.types.is_timestamp(kind):
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if kind.tz else moment
    return value
