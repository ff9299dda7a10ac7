"""Opening a store by where it is: a folder, a database with a place for the batches, or memory."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError

from falkirk.core.errors import StoreError, StoreOutageError
from falkirk.store.addresses import parted
from falkirk.store.database import Database, postgres_engine, sqlite_engine
from falkirk.store.files import Files
from falkirk.store.places import Place, Posix, UnreachableError, reached
from falkirk.store.redaction import redacted
from falkirk.store.store import SqlStore

MEMORY = "memory:"
METADATA, DATA = "metadata.sqlite", "data"
FORMS = (
    "a folder, sqlite:///FOLDER?data=PLACE, or postgresql://USER@HOST/DATABASE?data=PLACE with a"
    " folder for the batches or the address of a file system that Spark can write to"
)


def open_store(location: str | os.PathLike[str], make: bool = True) -> SqlStore:
    """Opens the store at ``location``; ``make`` makes it if there is none.

    A path is a folder with everything in it. ``postgresql://…?data=PLACE`` keeps the metadata in
    PostgreSQL and the batches at PLACE: a folder, or an address such as ``s3a://bucket/batches``.
    ``sqlite:///FOLDER?data=PLACE`` has its metadata in the folder FOLDER. PLACE is what Spark calls
    it; ``&via=PLACE`` says what the driver calls the same folder. ``memory:`` is a store that lasts
    until it is closed.
    """
    address = os.fspath(location)
    if address == MEMORY:
        return _memory()
    if "://" in address:
        return _at(address, make)
    return _folder(Path(address), Posix(Path(address) / DATA), address, make)


def sqlite_folder(address: str) -> Path | None:
    """The folder of the metadata, if they are in SQLite.

    >>> sqlite_folder("state"), sqlite_folder("sqlite:////srv/state?data=s3a://bucket/batches")
    (PosixPath('state'), PosixPath('/srv/state'))
    >>> sqlite_folder("postgresql://db/shop?data=/srv/batches")
    """
    if "://" not in address:
        return Path(address)
    url = _url(parted(address).database)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _memory() -> SqlStore:
    # A folder that goes with the store: Spark can read it, and it behaves like any other store.
    place = TemporaryDirectory(prefix="falkirk-")
    folder = Path(place.name)
    data = _made(Posix(folder / DATA, durable=False))
    engine = sqlite_engine(folder / METADATA, durable=False)
    return SqlStore(Database(engine, MEMORY), Files(data), place.cleanup)


def _at(address: str, make: bool) -> SqlStore:
    database, data, via = parted(address)
    url, folder = _url(database), sqlite_folder(address)
    if folder is not None:
        place = reached(data, via) if data else Posix(folder / DATA)
        return _folder(folder, place, redacted(address), make)
    if url.get_backend_name() != "postgresql" or not data:
        raise StoreError(f"{redacted(address)} is not a place for a store: give {FORMS}")
    place = _made(reached(data, via), make)
    return SqlStore(Database(_postgres(url), redacted(address), make), Files(place))


def _folder(folder: Path, place: Place, shown: str, make: bool) -> SqlStore:
    file = folder / METADATA
    if not make and not file.is_file():
        raise StoreError(
            f"there is no store at {folder}: run a flow on it first, or name another place"
        )
    if place.folder is None or place.folder.parent != folder:
        _made(Posix(folder))
    place = _made(place, make)
    return SqlStore(Database(sqlite_engine(file), shown, make), Files(place))


def _postgres(url: URL) -> Engine:
    try:
        return postgres_engine(url)
    except ImportError as error:
        raise StoreError("PostgreSQL needs its driver: pip install 'falkirk[postgres]'") from error


def _url(address: str) -> URL:
    try:
        return make_url(address)
    except (ArgumentError, ValueError):
        # What was given may hold a password, so it is not repeated.
        raise StoreError(f"that is no address of a store: give {FORMS}") from None


def _made(place: Place, make: bool = True) -> Place:
    try:
        place.prepare(make)
    except UnreachableError as error:
        raise StoreOutageError(
            f"cannot reach {place.shown}: {error}; see whether that file system is up, and whether"
            " this process has the keys for it, or choose another place for the batches"
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {place.shown}: {error.strerror or error}; choose another place"
        ) from error
    return place
