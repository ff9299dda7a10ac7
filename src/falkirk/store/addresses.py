"""The address of a store in its parts: where its metadata are, and where its batches are.

They are parted before the database's own rules are applied: the address of a file system may have
an ``@`` or a ``:`` in it, which would be taken for those of a user and a password.
"""

import re
from typing import NamedTuple
from urllib.parse import quote_plus, unquote_plus


class Parted(NamedTuple):
    """The address of the database; what Spark calls the place of the batches, and the driver."""

    database: str
    data: str | None = None
    via: str | None = None

    def whole(self) -> str:
        """One address, with nothing in it that the database's own rules could mean.

        >>> Parted("postgresql://db/shop?port=1", "s3a://bucket/batches").whole()
        'postgresql://db/shop?port=1&data=s3a%3A%2F%2Fbucket%2Fbatches'
        """
        options = {"data": self.data, "via": self.via}
        given = [f"{name}={quote_plus(each)}" for name, each in options.items() if each is not None]
        mark = "&" if "?" in self.database else "?"
        return self.database + (mark + "&".join(given) if given else "")


def parted(address: str) -> Parted:
    """An address in its parts.

    >>> parted("postgresql://me@db/shop?data=abfss://box@account/x&connect_timeout=3")[:2]
    ('postgresql://me@db/shop?connect_timeout=3', 'abfss://box@account/x')
    >>> parted("sqlite:///state?data=hdfs%3A%2F%2Fnames%3A8020%2Fx&via=webhdfs://names:9870/x")
    Parted(database='sqlite:///state', data='hdfs://names:8020/x', via='webhdfs://names:9870/x')
    """
    address, data = _without("data", address)
    address, via = _without("via", address) if data is not None else (address, None)
    return Parted(address, data, via)


def _without(option: str, address: str) -> tuple[str, str | None]:
    """An address without one of its options, and what that was."""
    found = re.search(rf"[?&]{option}=([^&]*)", address)
    if found is None:
        return address, None
    before, after = address[: found.start()], address[found.end() :]
    if after and "?" not in before:
        after = "?" + after[1:]
    return before + after, unquote_plus(found[1])
