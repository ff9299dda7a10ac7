"""How a shadow comes to the place of the live store: by new names, or row by row.

Two folders change their names. A live store with its metadata in a database keeps its address: what
it holds is copied to a folder aside, and then replaced by what the shadow holds, in one
transaction. Each step is skipped if it was done.
"""

import shutil
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

from falkirk.disk import sync_path
from falkirk.inspection.look import opened
from falkirk.inspection.shadow.facts import fact
from falkirk.inspection.shadow.linking import take
from falkirk.inspection.shadow.places import is_folder
from falkirk.store import tables
from falkirk.store.opening import open_store
from falkirk.store.several import in_pieces
from falkirk.store.store import SqlStore

UNFINISHED = ".copying"


def move(live: str, shadow: Path, aside: Path) -> None:
    """Puts the live store ``aside``, and the ``shadow`` in its place."""
    if is_folder(live):
        rename(Path(live), shadow, aside)
    else:
        replace(live, shadow, aside)


def rename(live: Path, shadow: Path, aside: Path) -> None:
    """The folders get their new names."""
    if not aside.exists():
        live.rename(aside)
        sync_path(aside.parent)
    if not live.exists():
        shadow.rename(live)
        sync_path(live.parent)


def replace(live: str, shadow: Path, aside: Path) -> None:
    """The rows get another place; the shadow's folder stays until all is done.

    The shadow has the identity of the live store by now, and the live store another one: where
    they are the same, the rows were replaced, and somebody may have gone on with them.
    """
    with opened(live) as store, opened(str(shadow)) as own:
        if not aside.exists():
            fresh = aside.with_name(aside.name + UNFINISHED)
            shutil.rmtree(fresh, ignore_errors=True)
            with closing(open_store(fresh)) as copy:
                put(store, copy)
            fresh.rename(aside)
            sync_path(aside.parent)
        if identity(store) != identity(own):
            put(own, store)


def clear(live: str, shadow: Path) -> None:
    """The shadow's folder goes, if its rows are elsewhere by now; a folder has moved itself."""
    if not is_folder(live):
        shutil.rmtree(shadow)


def identity(store: SqlStore) -> str | None:
    """Who a store is to sinks."""
    with store.database.reading() as connection:
        return fact(connection, "identity")


def put(source: SqlStore, target: SqlStore) -> None:
    """Everything in ``source`` in the place of everything in ``target``: files first, then rows."""
    for reference in source.references():
        take(source.files, target.files, reference)
    target.files.place.sync()
    with source.database.reading() as given, target.database.writing() as taken:
        copy_rows(given, taken)


def copy_rows(given: Connection, taken: Connection) -> None:
    """All rows but the lease; numbers that a database gives are given anew, in the same order."""
    for table in tables.metadata.sorted_tables:
        if table is tables.lease:
            continue
        columns = [column for column in table.columns if column is not tables.checkpoints.c.id]
        taken.execute(delete(table))
        found = given.execute(select(*columns).order_by(*table.primary_key))
        for piece in in_pieces(found.mappings()):
            taken.execute(insert(table), [dict(row) for row in piece])
