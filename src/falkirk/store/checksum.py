"""Checksums of files and of folders: a flipped bit, a torn end or a missing part is noticed."""

import hashlib
from pathlib import Path
from typing import NamedTuple

CHUNK_BYTES = 1 << 20


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


def of_file(path: Path) -> Sum:
    """The checksum of the file at ``path``, read in pieces."""
    digest, size = hashlib.blake2b(digest_size=16), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return Sum(size, digest.hexdigest())


def of_folder(path: Path) -> Sum:
    """The checksum of the Parquet files of a folder: of their sorted names, sizes and checksums."""
    listing, total = [], 0
    for part in parts(path):
        size, checksum = of_file(part)
        listing.append(f"{part.relative_to(path)} {size} {checksum}\n")
        total += size
    return Sum(total, of_bytes("".join(listing).encode()).checksum)


def parts(path: Path) -> list[Path]:
    """The data files of a folder, sorted; Spark's markers and checksum files are none."""
    return sorted(
        part
        for part in path.rglob("*")
        if part.is_file()
        and not any(piece.startswith(("_", ".")) for piece in part.relative_to(path).parts)
    )
