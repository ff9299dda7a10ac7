"""Opening a store by where it is: a folder, a PostgreSQL address with a data folder, or memory."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from falkirk.core.errors import StoreError
from falkirk.store.database import Database, postgres_engine, sqlite_engine
from falkirk.store.files import Files, sync_path
from falkirk.store.redaction import redacted
from falkirk.store.store import SqlStore

MEMORY = "memory:"


def open_store(location: str | os.PathLike[str], make: bool = True) -> SqlStore:
    """Opens the store at ``location``; ``make`` makes it if there is none.

    A path is a folder with everything in it. ``postgresql://…?data=PATH`` keeps the metadata in
    PostgreSQL and the batches in the folder PATH. ``memory:`` is a store that lasts until it is
    closed.
    """
    address = os.fspath(location)
    if address == MEMORY:
        return _memory()
    if "://" in address:
        return _postgres(address, make)
    folder = Path(address)
    file = folder / "metadata.sqlite"
    if not make and not file.is_file():
        raise StoreError(
            f"there is no store at {folder}: run a flow on it first, or name another place"
        )
    data = _made(folder / "data")
    return SqlStore(Database(sqlite_engine(file), str(folder), make), Files(data))


def _memory() -> SqlStore:
    # A folder that goes with the store: Spark can read it, and it behaves like any other store.
    place = TemporaryDirectory(prefix="falkirk-")
    folder = Path(place.name)
    data = _made(folder / "data")
    engine = sqlite_engine(folder / "metadata.sqlite", durable=False)
    return SqlStore(Database(engine, MEMORY), Files(data, durable=False), place.cleanup)


def _postgres(address: str, make: bool) -> SqlStore:
    url = _url(address)
    data = url.query.get("data")
    if url.get_backend_name() != "postgresql" or not isinstance(data, str):
        raise StoreError(
            f"{redacted(address)} is not a place for a store: give a folder, or"
            " postgresql://USER@HOST/DATABASE?data=FOLDER with a folder for the batches"
        )
    if "://" in data:
        raise StoreError(
            f"batches cannot be kept at {redacted(data)}: data= takes the path of a folder that the"
            " driver and all executors share"
        )
    folder = _made(Path(data))
    try:
        engine = postgres_engine(url.difference_update_query(["data"]))
    except ImportError as error:
        raise StoreError("PostgreSQL needs its driver: pip install 'falkirk[postgres]'") from error
    return SqlStore(Database(engine, redacted(address), make), Files(folder))


def _url(address: str) -> URL:
    try:
        return make_url(address)
    except (ArgumentError, ValueError):
        # What was given may hold a password, so it is not repeated.
        raise StoreError(
            "that is no address of a store: give a folder, or"
            " postgresql://USER@HOST/DATABASE?data=FOLDER"
        ) from None


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sync_path(folder.parent)
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {folder}: {error.strerror or error}; choose another place"
        ) from error
    return folder
