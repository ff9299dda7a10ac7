"""Where the two stores of a shadow are: the live one anywhere, the shadow in a folder of its own.

A shadow remembers its live store by its folder, or by the address of its database. Passwords are
not remembered: they come from where PostgreSQL's own tools have them.
"""

from pathlib import Path, PurePosixPath

from sqlalchemy import URL, make_url

from falkirk.core.errors import StoreError
from falkirk.store.addresses import Parted, parted
from falkirk.store.opening import MEMORY, sqlite_folder
from falkirk.store.places.reaching import redacted_place

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
    >>> lasting("sqlite:////var/shop?data=s3a://bucket/batches")
    'sqlite:////var/shop?data=s3a%3A%2F%2Fbucket%2Fbatches'
    """
    if place == MEMORY:
        raise StoreError("a store in memory is its process's own, so it can have no shadow")
    if is_folder(place):
        return str(Path(place).resolve())
    database, data, via = parted(place)
    url = make_url(database)
    query = {name: value for name, value in url.query.items() if name not in SECRETS}
    folder = sqlite_folder(place)
    home = url.database if folder is None else str(folder.resolve())
    kept = (url.drivername, url.username, None, url.host, url.port, home, query)
    places = [each and remembered(each) for each in (data, via)]
    return Parted(URL.create(*kept).render_as_string(), *places).whole()


def remembered(data: str) -> str:
    """The place of batches, wherever it is asked for from."""
    return redacted_place(data) if "://" in data else str(Path(data).resolve())


def beside(live: str) -> str:
    """What a store's folder is called, or the folder of its batches: others get names from it.

    Where neither is a folder, names are those of folders in the one that we are in.
    """
    folder = sqlite_folder(live)
    if folder is not None:
        return str(folder)
    _, data, via = parted(live)
    data = via or data
    assert data is not None, "such an address is refused when it is opened"
    if "://" not in data or data.startswith("file://"):
        return data.removeprefix("file://")
    return PurePosixPath(data.rstrip("/")).name
