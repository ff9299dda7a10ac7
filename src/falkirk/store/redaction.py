"""What of a database's address may be shown: never a password."""

from urllib.parse import urlsplit

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from falkirk.store.addresses import parted
from falkirk.store.places.reaching import redacted_place

SHOWN = frozenset({"host", "port"})
"""What may be shown of the options behind the question mark; any other could be a secret."""


def redacted(address: str) -> str:
    """The address without its user, its password and its options.

    >>> redacted("postgresql://me:secret@db.example:5433/shop?sslpassword=hidden")
    'postgresql://db.example:5433/shop'
    >>> redacted("sqlite:////var/shop.db")
    'sqlite:////var/shop.db'
    >>> redacted("postgresql://me:secret@db/shop?data=ftp://me:hush@host/batches")
    'postgresql://db/shop?data=ftp://host/batches'
    """
    given = parted(address)
    url = read(given.database)
    if url is None:
        return "an address that cannot be read"
    kept = {name: value for name, value in url.query.items() if name in SHOWN}
    backend = url.get_backend_name()
    shown = URL.create(backend, None, None, url.host, url.port, url.database, query=kept)
    text = shown.render_as_string()
    for name, place in (("data", given.data), ("via", given.via)):
        if place is not None:
            text += f"{'&' if '?' in text else '?'}{name}={redacted_place(place)}"
    return text


def scrubbed(text: str, address: str) -> str:
    """A text without the secrets of an address, whoever put them there.

    >>> scrubbed("no entry for 'hush'", "postgresql://me:hush@db/shop")
    "no entry for '***'"
    """
    for secret in sorted(secrets(address), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def secrets(address: str) -> set[str]:
    """The passwords, and the values of all options that may be one; the whole address too."""
    given = parted(address)
    url, found = read(given.database), {address}
    for place in (given.data, given.via):
        if place is not None and (hidden := password_of(place)):
            found |= {hidden, place}
    if url is not None:
        options = [value for name, value in url.query.items() if name not in SHOWN]
        for value in options:
            found |= {value} if isinstance(value, str) else set(value)
        if url.password:
            found |= {str(url.password), url.render_as_string(hide_password=False)}
    return {each for each in found if len(each) > 2}


def password_of(place: str) -> str | None:
    """The password in the address of a file system, if there is one."""
    try:
        return urlsplit(place).password
    except ValueError:
        return None


def read(address: str) -> URL | None:
    """The address in its parts, None if it has no parts."""
    try:
        return make_url(address)
    except (ArgumentError, ValueError):
        return None
