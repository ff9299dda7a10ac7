"""What a database complains about: whether it will pass, and in words that tell no secrets."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError, InvalidRequestError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from falkirk.connectors.sql import mysql
from falkirk.core.errors import OutageError, PermanentError
from falkirk.store.redaction import redacted, scrubbed

PASSING = ("08", "40", "53", "55P03", "57", "58")
"""SQL states that pass: connections, conflicts, resources, locks, operators, the system itself."""

PERMANENT = (
    "authentication failed",
    "does not exist",
    "no password supplied",
    "no pg_hba.conf entry",
)
"""What a server says that will not let us in; it has no SQL state by then."""

BUSY = ("locked", "busy", "disk i/o", "disk is full", "interrupted")
"""What SQLite says that passes."""


@contextmanager
def told(address: str, doing: str, errors: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turns what the database complains about into one of our errors; ``errors`` are the driver's.

    What comes from elsewhere, such as the rows that are to be written, goes through as it is.
    """
    complaints: tuple[type[Exception], ...] = (SQLAlchemyError, *errors)
    try:
        yield
    except complaints as error:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
        kind = OutageError if passes(error, cause) else PermanentError
        said = " ".join(f"{type(cause).__name__}: {cause}".split())
        text = scrubbed(f"{redacted(address)} could not be {doing}: {said}", address)
        # The original may have the address in its text, or in its own cause.
        raise kind(text) from None


def passes(error: Exception, cause: BaseException) -> bool:
    """Whether it is worth while to try again."""
    if isinstance(error, PoolTimeoutError) or getattr(error, "connection_invalidated", False):
        return True
    if isinstance(error, InvalidRequestError):
        return False
    number = mysql.number_of(cause)
    if number is not None:  # these databases have one state for most of it
        return number in mysql.PASSING
    state: Any = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    if state:
        return str(state).startswith(PASSING)
    said = str(cause).lower()
    if type(cause).__module__.startswith("sqlite3"):
        return any(word in said for word in BUSY)
    kinds = {kind.__name__ for kind in type(cause).__mro__}
    down = kinds & {"OperationalError", "InterfaceError", "InternalError"}
    return bool(down) and not any(word in said for word in PERMANENT)
