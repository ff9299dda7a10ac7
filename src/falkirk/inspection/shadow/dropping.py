"""Dropping a shadow: its folder goes, and the live store remembers that somebody did that."""

import shutil
from contextlib import suppress
from pathlib import Path

from falkirk.core.errors import StoreError
from falkirk.inspection.look import holder_of, opened
from falkirk.inspection.shadow.facts import (
    Shadow,
    identity_in,
    refuse_promoting,
    shadow_of,
)
from falkirk.inspection.shadow.fencing import Fence
from falkirk.inspection.shadow.places import folder_of
from falkirk.inspection.shadow.promoting import entry
from falkirk.store import audit


def droppable(place: str) -> Shadow:
    """The shadow at ``place``, which nobody runs and which is not on its way to be the live one."""
    folder_of(place)
    with opened(place) as own:
        shadow = shadow_of(own)
        refuse_promoting(shadow, place)
        with own.database.reading() as connection:
            holder = holder_of(connection, own.database.now(connection))
    if holder.state in ("live", "expired"):
        raise StoreError(
            f"the shadow at {place} is in use by process {holder.pid} on {holder.host}: stop that"
            " process first"
        )
    return shadow


def drop(place: str, why: str) -> Shadow:
    """Removes the shadow at ``place``."""
    shadow, fence = droppable(place), Fence()
    with opened(place) as own, own.database.writing() as connection:
        fence.take(connection, own.database)
    with suppress(StoreError), opened(shadow.live) as live:
        if identity_in(live) == shadow.identity:
            with live.database.writing() as connection:
                now = live.database.now(connection)
                audit.note(connection, entry(now, f"dropped the shadow {place}", why))
    shutil.rmtree(Path(place))
    return shadow
