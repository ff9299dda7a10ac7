"""Asking a run: what is to be changed in a store that is in use, its run has to change."""

import getpass
import socket
import time
from collections.abc import Mapping
from typing import Any

from falkirk.core.errors import ConfigurationError, RecoveryError, StoreError
from falkirk.inspection.look import holder_of
from falkirk.runtime.requests import STALE
from falkirk.store.requests import answer_to, ask, withdraw
from falkirk.store.store import SqlStore

SECONDS = 30.0
"""How long a run is given to answer, if nobody says otherwise."""

POLL_SECONDS = 0.1


class StalePlanError(StoreError):
    """The store is not what it was when the plan was made."""


def asked(
    store: SqlStore, what: str, details: Mapping[str, Any], seconds: float = SECONDS
) -> Mapping[str, Any]:
    """The answer of the run that holds ``store``; what it refuses is raised."""
    number = ask(store.database, what, details, seconds)
    until = time.monotonic() + seconds
    answer = None
    while answer is None and time.monotonic() < until and in_use(store):
        time.sleep(POLL_SECONDS)
        answer = answer_to(store.database, number)
    answer = withdraw(store.database, number) or answer
    if answer is None:
        raise StoreError(
            f"the run on {store.database.place} has not answered within {seconds:g} s: it may have"
            " ended, or be busy with a recovery. See `falkirk audit` for whether it was done, and"
            " ask again"
        )
    if not answer["done"]:
        raise refusal(answer["kind"])(answer["why"])
    return answer


def refusal(kind: str) -> type[StoreError | RecoveryError | ConfigurationError]:
    """The error that a run has answered with."""
    if kind == STALE:
        return StalePlanError
    known = {each.code: each for each in (RecoveryError, ConfigurationError)}
    return known.get(kind, StoreError)


def in_use(store: SqlStore) -> bool:
    """Whether a process holds the store and is alive."""
    with store.database.reading() as connection:
        return holder_of(connection, store.database.now(connection)).state == "live"


def somebody() -> str:
    """Who is at the keyboard, and where."""
    return f"{user()}@{socket.gethostname()}"


def user() -> str:
    """Who is at the keyboard."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
