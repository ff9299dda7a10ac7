"""Whether somebody listens at an address, and waiting for it: not in silence, and not for ever."""

import logging
import os
import socket
import time
from collections.abc import Iterable

from falkirk.core.errors import EngineError
from falkirk.runtime.masters import CONNECT, Place, places_of

CONNECT_SECONDS = 2.0
"""How long one attempt may take."""

WAIT_SECONDS, PAUSE_SECONDS, SAID_SECONDS = 30.0, 1.0, 10.0
"""How long a master is waited for, how often it is tried, and how often that is said."""

PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
"""Where one of these is set, gRPC may get to a server that we cannot connect to ourselves."""

UNREACHABLE = ("StatusCode.UNAVAILABLE", "RETRIES_EXCEEDED")
"""What calls of a Spark Connect server say that does not answer."""

log = logging.getLogger("falkirk.session")


def trouble(places: Iterable[Place], seconds: float = CONNECT_SECONDS) -> str:
    """Why none of ``places`` takes a connection, or nothing if one of them does."""
    said: list[str] = []
    for place in places:
        try:
            socket.create_connection(place, seconds).close()
        except (OSError, UnicodeError) as error:  # a name of a host may be none
            said.append(getattr(error, "strerror", None) or str(error) or type(error).__name__)
        else:
            return ""
    return ", ".join(dict.fromkeys(said))


def master_trouble(master: str) -> str:
    """Why a master takes no connection, or nothing if it does, or if nobody can tell."""
    if master.startswith(CONNECT) and any(map(os.environ.get, PROXIES)):
        return ""
    return trouble(places_of(master))


def wait_for(master: str, origin: str = "") -> None:
    """Returns when a master that has an address takes connections; gives up after a while.

    Spark would wait longer, say nothing meanwhile, and end with a stack trace.
    """
    began, said = time.monotonic(), -SAID_SECONDS
    while because := master_trouble(master):
        waited = time.monotonic() - began
        if waited + PAUSE_SECONDS > WAIT_SECONDS:
            raise unreachable(master, because, origin)
        if waited - said >= SAID_SECONDS:
            times = (waited, WAIT_SECONDS)
            log.warning("waiting for %s, %.0f of %.0f s: %s", shown(master), *times, because)
            said = waited
        time.sleep(PAUSE_SECONDS)


def unreachable(master: str, because: str, origin: str = "") -> EngineError:
    """The error for a master that cannot be had."""
    return EngineError(
        f"{f'{origin}: ' if origin else ''}{shown(master)} does not answer: {because}. See whether"
        " it is up, and whether host and port are those at which it takes applications (not those"
        " of its web page); then run again. Nothing that was stored is lost"
    )


def shown(master: str) -> str:
    """A master without what may be secret: a token stands behind the address.

    >>> shown("sc://host:15002/;token=hush"), shown("local[2]")
    ('sc://host:15002', 'local[2]')
    """
    return master.partition("/;")[0] if master.startswith(CONNECT) else master
