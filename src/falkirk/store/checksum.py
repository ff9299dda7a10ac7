"""Checksums of files and of folders: a flipped bit, a torn end or a missing part is noticed."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from falkirk.store.places.protocol import Part, Place


class Sum(NamedTuple):
    """How large something is, and its checksum."""

    size: int
    checksum: str


def of_bytes(content: bytes | memoryview) -> Sum:
    """The checksum of ``content``.

    >>> of_bytes(b"falkirk")
    Sum(size=7, checksum='6ee58a5a3f14fa132058e2c2faaf32fc')
    """
    return Sum(len(content), hashlib.blake2b(content, digest_size=16).hexdigest())


def of_file(place: Place, name: str) -> Sum:
    """The checksum of a file, read in pieces."""
    digest, size = hashlib.blake2b(digest_size=16), 0
    for chunk in place.chunks(name):
        digest.update(chunk)
        size += len(chunk)
    return Sum(size, digest.hexdigest())


def of_folder(place: Place, name: str, parts: Iterable[Part]) -> Sum:
    """The checksum of the data files of a folder, which are read in pieces."""
    return _of_listing((part.name, of_file(place, f"{name}/{part.name}")) for part in parts)


def of_parts(parts: Iterable[tuple[Part, bytes]]) -> Sum:
    """The checksum of the data files of a folder, which were read."""
    return _of_listing((part.name, of_bytes(content)) for part, content in parts)


def _of_listing(found: Iterable[tuple[str, Sum]]) -> Sum:
    """The checksum of sorted names, sizes and checksums."""
    listing, total = [], 0
    for name, (size, checksum) in found:
        listing.append(f"{name} {size} {checksum}\n")
        total += size
    return Sum(total, of_bytes("".join(listing).encode()).checksum)
