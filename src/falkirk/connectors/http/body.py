"""Bodies: JSON in, as strict as JSON is, and rows of any type out."""

import base64
import json
import math
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from typing import Any

from falkirk.connectors.http.misfit import Misfit


def parsed(body: bytes) -> Any:
    """The JSON value of a body; raises :class:`Misfit`."""
    try:
        return json.loads(body, parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise Misfit("", f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Misfit(where, f"this is no JSON: {error.msg}") from None
    except RecursionError:
        raise Misfit("", "this is nested too deeply") from None
    except ValueError as error:
        raise Misfit("", f"this is no JSON: {error}") from None


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no number there")


def plain(value: Any) -> Any:
    """A value of an answer as JSON has it.

    >>> from decimal import Decimal
    >>> plain({"price": Decimal("1.50"), "day": date(2031, 5, 17), "ratio": float("nan")})
    {'price': '1.50', 'day': '2031-05-17', 'ratio': None}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime | date | time_of_day):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value)  # decimals: to lose no digit
