"""Masters of Spark by their form: which can be, and where those with an address are."""

import re
from urllib.parse import urlsplit

from falkirk.core.errors import ConfigurationError

CONNECT, CONNECT_PORT = "sc://", 15002
STANDALONE = "spark://"

WITHOUT_ADDRESS = re.compile(
    r"local|local\[([1-9][0-9]*|\*)(\s*,\s*[0-9]+)?\]"
    r"|local-cluster\[\s*[0-9]+\s*,\s*[0-9]+\s*,\s*[0-9]+\s*\]"
    r"|yarn|k8s://.+"
)
"""What Spark itself understands; where Kubernetes is, it finds out by itself."""

FORMS = (
    "local[2], local[*], spark://HOST:PORT, yarn, k8s://HOST:PORT, or sc://HOST:PORT for a Spark"
    " Connect server"
)

Place = tuple[str, int]
"""A host and a port."""


def check_master(master: str, origin: str = "") -> None:
    """Refuses what no Spark can be; ``origin`` says where it was written."""
    if not WITHOUT_ADDRESS.fullmatch(master) and not places_of(master):
        raise ConfigurationError(
            f"{f'{origin}: ' if origin else ''}{master!r} is no master of Spark: write {FORMS}"
        )


def places_of(master: str) -> list[Place]:
    """Where a master listens, one place or several that stand by; none if it has no address.

    >>> places_of("spark://one:7077,two:7078"), places_of("sc://[::1]/;token=x")
    ([('one', 7077), ('two', 7078)], [('::1', 15002)])
    >>> places_of("local[2]"), places_of("spark://one"), places_of("spark://one:port")
    ([], [], [])
    """
    if master.startswith(CONNECT):
        found = [place(master, CONNECT_PORT)]
    elif master.startswith(STANDALONE):
        hosts = master.removeprefix(STANDALONE).split(",")
        found = [place(f"{STANDALONE}{host}", None) for host in hosts]
    else:
        return []
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []


def place(address: str, port: int | None) -> Place | None:
    """Host and port of an address, with ``port`` if it names none; None if one is missing."""
    try:
        parts = urlsplit(address)
        found = parts.port or port
    except ValueError:
        return None
    return (parts.hostname, found) if parts.hostname and found else None
