"""Making pins, and letting them go.

A pin keeps a consistent choice of frontiers, so that everything can go back there and its state can
be read as it was. Inputs are not acknowledged beyond a pin, so their sources still have what
follows. Outputs go on, unless the pin holds them back.
"""

import re
import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from falkirk.core.errors import ConfigurationError, StoreError
from falkirk.core.machine.flow import Role
from falkirk.core.times import ProcessorId
from falkirk.inspection.asking import SECONDS, asked, in_use, somebody
from falkirk.inspection.look import Look, fingerprint
from falkirk.inspection.pins import the_pin
from falkirk.inspection.repair import bounded, refuse_beyond, refuse_final
from falkirk.inspection.words import until
from falkirk.runtime.details import entry, write_frontiers
from falkirk.store.noting import Note
from falkirk.store.pins import PIN, Pinned
from falkirk.store.store import SqlStore

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


def planned(
    look: Look, name: str, bounds: Mapping[ProcessorId, Any], outputs: bool, why: str
) -> Pinned:
    """The pin that would be made by what the store holds now.

    By default it keeps the low-watermarks; with ``bounds`` the most that lies inside them.
    """
    refuse_name(look, name)
    if bounds and outputs:
        raise ConfigurationError(
            "what outputs have shown already cannot be held back: leave --hold-outputs out, or pin"
            " the present without --at"
        )
    for p, bound in bounds.items():
        refuse_beyond(
            look,
            p,
            bound,
            "a pin keeps what is there by now; name an earlier time, or leave --at out to pin the"
            " present",
        )
        if look.flow.processors[p].role is not Role.OUTPUT:
            refuse_final(look, p, bound)
    frontiers = dict((bounded(look, bounds) if bounds else look.solution).frontiers)
    for p, frontier in frontiers.items():
        if look.flow.processors[p].role is not Role.OUTPUT and not look.flow.restores_anywhere(p):
            refuse_final(look, p, frontier)
    return Pinned(name, frontiers, outputs, time.time(), somebody(), why)


def refuse_name(look: Look, name: str) -> None:
    """Refuses a name that is no name, or taken."""
    if not NAME.fullmatch(name) or name == "start":
        raise ConfigurationError(
            f"{name!r} is no name for a pin: begin with a letter, and use letters, digits, and"
            " . _ - after it"
        )
    if name in {pin.name for pin in look.pins}:
        raise ConfigurationError(f"there is a pin {name!r} already: choose another name")


def put(
    store: SqlStore,
    look: Look,
    pin: Pinned,
    bounds: Mapping[ProcessorId, Any],
    seconds: float = SECONDS,
) -> None:
    """Makes a pin: through the run, if there is one, which pins the present of its own."""
    if in_use(store):
        details = {
            "name": pin.name,
            "bounds": write_frontiers(bounds),
            "outputs": pin.outputs,
            "who": pin.who,
            "why": pin.why,
        }
        asked(store, "pin", details, seconds)
        return
    store.acquire()

    def check(connection: Connection) -> None:
        if fingerprint(connection) != look.fingerprint:
            raise StoreError("the store has changed in this moment: nothing was done, try again")

    words = {p: until(f) for p, f in pin.frontiers.items()}
    store.repair(
        Note(pin.fact, entry({"who": pin.who, "why": pin.why}, f"pin {pin.name}", words)), check
    )


def remove(store: SqlStore, look: Look, name: str, why: str, seconds: float = SECONDS) -> None:
    """Lets a pin go; what it held back is collected by the run, now or by the next one."""
    the_pin(look, name)
    if in_use(store):
        asked(store, "unpin", {"name": name, "who": somebody(), "why": why}, seconds)
        return
    store.acquire()
    store.repair(
        Note({PIN + name: None}, entry({"who": somebody(), "why": why}, f"unpin {name}", {}))
    )
