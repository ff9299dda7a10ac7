"""What of a database's address may be shown: never a password."""

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

SHOWN = frozenset({"host", "port", "data"})
"""What may be shown of the options behind the question mark; any other could be a secret."""


def redacted(address: str) -> str:
    """The address without its user, its password and its options.

    >>> redacted("postgresql://me:secret@db.example:5433/shop?sslpassword=hidden")
    'postgresql://db.example:5433/shop'
    >>> redacted("sqlite:////var/shop.db")
    'sqlite:////var/shop.db'
    """
    url = read(address)
    if url is None:
        return "an address that cannot be read"
    kept = {name: value for name, value in url.query.items() if name in SHOWN}
    backend = url.get_backend_name()
    shown = URL.create(backend, None, None, url.host, url.port, url.database, query=kept)
    return shown.render_as_string()


def scrubbed(text: str, address: str) -> str:
    """A text without the secrets of an address, whoever put them there.

    >>> scrubbed("no entry for 'hush'", "postgresql://me:hush@db/shop")
    "no entry for '***'"
    """
    for secret in sorted(secrets(address), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def secrets(address: str) -> set[str]:
    """The password, and the values of all options that may be one; the whole address too."""
    url, found = read(address), {address}
    if url is not None:
        options = [value for name, value in url.query.items() if name not in SHOWN]
        for value in options:
            found |= {value} if isinstance(value, str) else set(value)
        if url.password:
            found |= {str(url.password), url.render_as_string(hide_password=False)}
    return {each for each in found if len(each) > 2}


def read(address: str) -> URL | None:
    """The address in its parts, None if it has no parts."""
    try:
        return make_url(address)
    except (ArgumentError, ValueError):
        return None
