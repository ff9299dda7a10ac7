"""Where the two stores of a shadow are: the live one anywhere, the shadow in a folder of its own.

A shadow remembers its live store by its folder, or by the address of its database. Passwords are
not remembered: they come from where PostgreSQL's own tools have them.
"""

from pathlib import Path

from sqlalchemy import URL, make_url

from falkirk.core.errors import StoreError
from falkirk.store.opening import MEMORY

SECRETS = ("password", "sslpassword")
"""The options of an address that are not remembered."""


def is_folder(place: str) -> bool:
    """Whether a store is one folder with everything in it."""
    return "://" not in place and place != MEMORY


def folder_of(place: str) -> Path:
    """The folder of a shadow, which is dropped with it and may be moved."""
    if not is_folder(place):
        raise StoreError(
            "the shadow is no folder: name one, which will have its metadata in SQLite. The live"
            " store may be in PostgreSQL all the same"
        )
    return Path(place)


def lasting(place: str) -> str:
    """How a shadow remembers where its live store is.

    >>> lasting("postgresql://me:secret@db/shop?data=/var/shop")
    'postgresql://me@db/shop?data=%2Fvar%2Fshop'
    """
    if place == MEMORY:
        raise StoreError("a store in memory is its process's own, so it can have no shadow")
    if is_folder(place):
        return str(Path(place).resolve())
    url = make_url(place)
    query = {name: value for name, value in url.query.items() if name not in SECRETS}
    if isinstance(data := query.get("data"), str):
        query["data"] = str(Path(data).resolve())
    kept = (url.drivername, url.username, None, url.host, url.port, url.database, query)
    return URL.create(*kept).render_as_string()


def beside(live: str) -> str:
    """What a store's folder is called, or the folder of its batches: others get names from it."""
    if is_folder(live):
        return live
    data = make_url(live).query["data"]
    assert isinstance(data, str), "such an address is refused when it is opened"
    return data
