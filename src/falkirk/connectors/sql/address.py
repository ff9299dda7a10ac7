"""Addresses of databases, as SQLAlchemy has them."""

from sqlalchemy import URL

from falkirk.core.errors import PermanentError
from falkirk.store.redaction import read


def parsed(address: str) -> URL:
    """The address in its parts; PostgreSQL is spoken to by psycopg."""
    url = read(address)
    if url is None:
        # What was given may hold a password, so it is not repeated.
        raise PermanentError(
            "that is no address of a database: it looks like postgresql://USER@HOST/DATABASE or"
            " sqlite:///FILE"
        )
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return url
