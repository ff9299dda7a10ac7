"""What a shadow store knows of itself: whose shadow it is, and what it records where."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, delete, insert, select, update

from falkirk.core.errors import StoreError
from falkirk.inspection.look import opened
from falkirk.inspection.shadow.places import beside, lasting
from falkirk.store import tables
from falkirk.store.codec import parsed, text
from falkirk.store.store import SqlStore

SHADOW = "shadow"
ASIDE = "aside"
"""The name of the fact in a live store that was, or is being, replaced by a shadow."""

RECORDED = "recorded"
"""The folder in a shadow store that has what its outputs would have shown."""


@dataclass(frozen=True, slots=True)
class Output:
    """An output of a shadow: what it shows is in ``folder``, each part in one of its own.

    ``live`` is the folder of Parquet by time into which the live flow shows the same, if it does.
    An output with its ``own`` sink records nothing.
    """

    name: str
    parts: tuple[str, ...]
    live: str | None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Shadow:
    """Whose shadow a store is. ``frontiers`` are what it kept, in words.

    ``kept`` has for each input and output the last epoch that was kept, ``inputs`` for each input
    how it began. ``state`` is forked, or promoting when the live store is about to be replaced.
    """

    live: str
    identity: str | None
    made: float
    at: dict[str, str]
    frontiers: dict[str, str]
    again: tuple[str, ...]
    kept: dict[str, int]
    inputs: dict[str, str]
    outputs: tuple[Output, ...]
    state: str = "forked"


def write_shadow(connection: Connection, shadow: Shadow) -> None:
    """Says whose shadow this is."""
    put_fact(connection, SHADOW, text(asdict(shadow)))


def read_shadow(connection: Connection, place: str) -> Shadow:
    """Whose shadow this is; a store that is nobody's is refused."""
    value = fact(connection, SHADOW)
    if value is None:
        raise StoreError(
            f"the store at {place} is no shadow: name one, or make it by `falkirk shadow start`"
        )
    given = parsed(value)
    outputs = tuple(
        Output(each["name"], tuple(each["parts"]), each["live"], each["own"])
        for each in given["outputs"]
    )
    return Shadow(**{**given, "again": tuple(given["again"]), "outputs": outputs})


def shadow_at(place: str) -> Shadow:
    """Whose shadow the store at ``place`` is."""
    with opened(place) as store:
        return shadow_of(store)


def shadow_of(store: SqlStore) -> Shadow:
    """Whose shadow an open store is."""
    with store.database.reading() as connection:
        return read_shadow(connection, store.database.place)


def refuse_promoting(shadow: Shadow, place: str) -> None:
    """A shadow that is about to replace the live store must not go on."""
    if shadow.state != "forked":
        raise StoreError(
            f"the shadow at {place} is being promoted: `falkirk shadow promote` finishes that"
        )


def identity_in(store: SqlStore) -> str | None:
    """The identity of a store, if it was ever asked for; nothing is written."""
    with store.database.reading() as connection:
        return fact(connection, "identity")


def fact(connection: Connection, name: str) -> str | None:
    """A fact of a store, None if it is not known."""
    facts = tables.facts
    value = connection.scalar(select(facts.c.value).where(facts.c.name == name))
    return None if value is None else str(value)


def put_fact(connection: Connection, name: str, value: str) -> None:
    """Writes a fact, in the place of what was known."""
    facts = tables.facts
    changed = connection.execute(update(facts).where(facts.c.name == name).values(value=value))
    if not changed.rowcount:
        connection.execute(insert(facts), {"name": name, "value": value})


def drop_fact(connection: Connection, name: str) -> None:
    """Forgets a fact."""
    connection.execute(delete(tables.facts).where(tables.facts.c.name == name))


def recorded(place: str, output: str, part: str = "") -> Path:
    """Where a shadow store records an output, or one part of it.

    >>> str(recorded("shadow", "a/b", "left"))
    'shadow/recorded/a%2Fb/left'
    """
    folder = Path(place) / RECORDED / quote(output, safe="")
    return folder / quote(part, safe="") if part else folder


def shadows(live: str, among: Path | None = None) -> Iterator[tuple[str, Shadow]]:
    """The shadows of ``live`` among the folders beside it, or in ``among``."""
    place = lasting(live)
    folder = among or Path(beside(place)).parent
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if not (Path(entry.path) / "metadata.sqlite").is_file():
            continue
        with suppress(StoreError):  # it may be somebody else's, or no shadow
            found = shadow_at(entry.path)
            if found.live == place:
                yield entry.path, found
