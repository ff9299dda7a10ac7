"""Columns of MariaDB and MySQL: types that hold all values, and those that would change some."""

from typing import Any

from sqlalchemy import (
    BINARY,
    CHAR,
    NCHAR,
    VARBINARY,
    Boolean,
    Date,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    Numeric,
    Text,
    Time,
)
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeEngine

KEY_LENGTH = 255
"""How long a text in a key can be: an index holds no more than 3072 bytes."""

BYTES = (LargeBinary, VARBINARY, mysql.TINYBLOB, mysql.MEDIUMBLOB, mysql.LONGBLOB)


def held(kind: TypeEngine[Any], keyed: bool) -> TypeEngine[Any]:
    """The type that holds what ``kind`` is to hold: texts of any length, and microseconds."""
    if isinstance(kind, Text):
        return mysql.VARCHAR(KEY_LENGTH) if keyed else mysql.LONGTEXT()
    if isinstance(kind, LargeBinary):
        return mysql.VARBINARY(KEY_LENGTH) if keyed else mysql.LONGBLOB()
    if isinstance(kind, DateTime):
        return mysql.DATETIME(timezone=kind.timezone, fsp=6)
    if isinstance(kind, Time):
        return mysql.TIME(fsp=6)
    return kind


def changes_values(there: TypeEngine[Any], ours: TypeEngine[Any]) -> bool | None:
    """Whether a column that is ``there`` would change what ``ours`` holds; None: as elsewhere.

    Moments in a time zone are in UTC in a DATETIME, and a TIMESTAMP is for these alone.
    """
    if isinstance(ours, Boolean):
        return not (isinstance(there, mysql.TINYINT) and there.display_width == 1)
    if isinstance(ours, BYTES):
        return not isinstance(there, BYTES)
    if isinstance(ours, DateTime):
        if isinstance(there, mysql.TIMESTAMP):
            return not ours.timezone or there.fsp != 6
        return not isinstance(there, mysql.DATETIME) or there.fsp != 6
    if isinstance(ours, Time):
        return not isinstance(there, mysql.TIME) or there.fsp != 6
    if isinstance(ours, Float) and isinstance(there, Float):
        return getattr(there, "scale", None) is not None or None
    if isinstance(ours, Integer | Numeric | Float | Date):
        return None
    padded = isinstance(there, CHAR | NCHAR | BINARY | mysql.BIT | mysql.YEAR)
    return padded or isinstance(there, BYTES) or None
