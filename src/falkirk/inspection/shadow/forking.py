"""Making a fork: the rows and the files inside its frontiers, in a store of its own.

The live store is only read. A file is taken by a hard link, or copied where that cannot be; should
the live flow collect one meanwhile, the fork is planned again from a newer look.
"""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.errors import StoreError
from falkirk.core.times import ProcessorId
from falkirk.disk import sync_path
from falkirk.inspection.look import opened
from falkirk.inspection.shadow.linking import CollectedError, take
from falkirk.inspection.shadow.planning import Fork
from falkirk.inspection.shadow.taking import Piece, Taking
from falkirk.store import tables
from falkirk.store.codec import checkpoint_to_json, frontier_key, text
from falkirk.store.opening import open_store
from falkirk.store.rows import Rows
from falkirk.store.store import SqlStore

ATTEMPTS_MAX = 20
"""How often a fork is planned again because the live flow collected what it was to take."""

UNFINISHED = ".forking"


def forked(
    live: str,
    place: Path,
    plan: Callable[[SqlStore], Fork],
    finish: Callable[[SqlStore, Fork], None],
) -> Fork:
    """Makes the fork that ``plan`` wants of the store at ``live``, as the store at ``place``.

    ``finish`` writes what else the new store has to know. It appears whole or not at all.
    """
    refuse_taken(place)
    fresh = place.with_name(place.name + UNFINISHED)
    for attempt in range(ATTEMPTS_MAX):
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            with opened(live) as store:
                fork = plan(store)
                made(fork, store, fresh, finish)
        except CollectedError:
            if attempt == ATTEMPTS_MAX - 1:
                raise
        else:
            fresh.rename(place)
            sync_path(place.parent)
            return fork
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    raise AssertionError("unreachable")


def refuse_taken(place: Path) -> None:
    """A shadow needs a folder of its own."""
    if place.exists():
        raise StoreError(f"there is something at {place} already: choose another place")


def made(fork: Fork, live: SqlStore, place: Path, finish: Callable[[SqlStore, Fork], None]) -> None:
    """Writes the fork to ``place``."""
    store = open_store(str(place))
    try:
        taking = Taking(fork, live)
        pieces = [taking.piece(p) for p in fork.blueprint.nodes]
        for name, reference in sorted(taking.references.items()):
            take(live.files, store.files, reference)
            problem = store.files.problem(reference)
            if problem is not None:
                raise CollectedError(
                    f"{live.files.told(name)} could not be taken: {problem}; if nobody runs on"
                    " that store its file is damaged"
                )
        store.files.place.sync()
        with store.database.writing() as connection:
            rows = Rows(connection, store.files)
            for piece in pieces:
                put(rows, piece)
        finish(store, fork)
    finally:
        store.close()


def put(rows: Rows, piece: Piece) -> None:
    """Writes what was taken of one processor."""
    p = piece.processor
    if piece.incarnation:
        rows.put_processor(p, incarnation=piece.incarnation)
    if piece.base is not None:
        rows.put_bases({p: piece.base})
    rows.put_records({p: piece.records})
    put_checkpoints(rows, p, piece.checkpoints)


def put_checkpoints(
    rows: Rows, p: ProcessorId, given: Iterable[tuple[Checkpoint, Any, str | None]]
) -> None:
    """Writes checkpoints, each with the frontier of the one before and what was captured."""
    written = [
        {
            "processor": p,
            "frontier": frontier_key(checkpoint.frontier),
            "previous": previous if isinstance(previous, str) else frontier_key(previous),
            "content": text(checkpoint_to_json(checkpoint)),
            "captured": captured,
        }
        for checkpoint, previous, captured in given
    ]
    if written:
        rows.connection.execute(insert(tables.checkpoints), written)
