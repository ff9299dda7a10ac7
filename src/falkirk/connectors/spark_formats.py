"""Formats of files that Spark may lack: which package has one, said where it is missed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from falkirk.core.errors import PermanentError

PACKAGES = {"avro": "org.apache.spark:spark-avro_2.13"}
"""Formats that are Spark's own and do not come with it."""

NOT_FOUND = ("DATA_SOURCE_NOT_FOUND", "DATA_SOURCE_NOT_ENABLED")
"""What Spark's errors are called when it does not know a format."""


@contextmanager
def known_format(session: Any, format: str) -> Iterator[None]:
    """Says what to do when Spark does not know ``format``."""
    try:
        yield
    except Exception as error:
        if not any(name in str(error) for name in NOT_FOUND):
            raise
        raise PermanentError(missing(format, session.version)) from None


def missing(format: str, version: str) -> str:
    """What to do about a format that Spark of a version does not know.

    >>> missing("avor", "4.1.1").partition(": ")[2]
    'it is misspelt, or spark.jars.packages must name a package that has it'
    """
    package = PACKAGES.get(format.lower())
    what = f"Spark does not know the format {format!r}"
    if package is None:
        return f"{what}: it is misspelt, or spark.jars.packages must name a package that has it"
    return (
        f"{what}: start it with the setting spark.jars.packages={package}:{version}, for instance"
        " by fk.run(flow, settings=…)"
    )
