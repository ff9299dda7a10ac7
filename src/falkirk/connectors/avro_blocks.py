"""Whether a file is an Avro file from its beginning to its end; what is in its rows is not read.

It begins with four bytes and a map that has the schema. Blocks of rows follow, each with its length
before it and behind it the sixteen bytes that the beginning ends with.
"""

import os
from typing import BinaryIO

MAGIC, MARK_BYTES, LONG_BYTES_MAX = b"Obj\x01", 16, 10


def check_avro(path: str) -> None:
    """Raises ValueError if the file is something else, is cut off, or was written over."""
    with open(path, "rb") as file:
        pieces = Pieces(file)
        if pieces.left < len(MAGIC) or pieces.take(len(MAGIC)) != MAGIC:
            raise ValueError(f"it does not begin with {MAGIC!r}")
        if b"avro.schema" not in header(pieces):
            raise ValueError("it has no schema")
        mark = pieces.take(MARK_BYTES)
        while pieces.left:
            pieces.long()  # how many rows
            pieces.skip(pieces.long())
            if pieces.take(MARK_BYTES) != mark:
                raise ValueError(f"a block of rows does not end at byte {pieces.at}")


def header(pieces: "Pieces") -> list[bytes]:
    """The names in the map at the beginning."""
    names = []
    while count := pieces.long():
        if count < 0:
            pieces.long()  # how many bytes these entries have
        for _ in range(abs(count)):
            names.append(pieces.take(pieces.long()))
            pieces.skip(pieces.long())
    return names


class Pieces:
    """A file piece by piece, never beyond its end."""

    def __init__(self, file: BinaryIO) -> None:
        """From its beginning on."""
        self.file, self.at = file, 0
        self.left = os.fstat(file.fileno()).st_size

    def take(self, size: int) -> bytes:
        """The next bytes."""
        self._pass(size)
        return self.file.read(size)

    def skip(self, size: int) -> None:
        """Passes over bytes."""
        self._pass(size)
        self.file.seek(size, os.SEEK_CUR)

    def long(self) -> int:
        """A number as Avro writes it: seven bits a byte, and the sign in the lowest."""
        value = 0
        for place in range(LONG_BYTES_MAX):
            (byte,) = self.take(1)
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise ValueError(f"there is no number before byte {self.at}")

    def _pass(self, size: int) -> None:
        if not 0 <= size <= self.left:
            raise ValueError(f"it is cut off: {size} bytes were expected at {self.at}")
        self.at += size
        self.left -= size
