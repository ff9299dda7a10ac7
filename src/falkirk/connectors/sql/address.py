"""Addresses of databases, as SQLAlchemy has them."""

from sqlalchemy import URL

from falkirk.core.errors import PermanentError
from falkirk.store.redaction import read

DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
"""Who speaks to a database if nobody is named."""


def parsed(address: str) -> URL:
    """The address in its parts, with a driver where it names none."""
    url = read(address)
    if url is None:
        # What was given may hold a password, so it is not repeated.
        raise PermanentError(
            "that is no address of a database: it looks like postgresql://USER@HOST/DATABASE or"
            " sqlite:///FILE"
        )
    driver = DRIVERS.get(url.drivername)
    return url if driver is None else url.set(drivername=f"{url.drivername}+{driver}")
