"""Whether a file is an Avro file from its beginning to its end; rows are unpacked and not read.

It begins with four bytes and a map that has the schema and how rows are packed. Blocks of them
follow, each with its length before it and behind it the sixteen bytes that the beginning ends with.
"""

import bz2
import lzma
import os
import zlib
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

MAGIC, MARK_BYTES, LONG_BYTES_MAX = b"Obj\x01", 16, 10
SNAPPY_RATIO_MAX = 32
"""Three bytes make 64 at most."""


def check_avro(path: str) -> None:
    """Raises ValueError if the file is something else, is cut off, or was written over."""
    with open(path, "rb") as file:
        pieces = Pieces(file)
        if pieces.left < len(MAGIC) or pieces.take(len(MAGIC)) != MAGIC:
            raise ValueError(f"it does not begin with {MAGIC!r}")
        entries = header(pieces)
        if b"avro.schema" not in entries:
            raise ValueError("it has no schema")
        unpack, mark = UNPACKING.get(entries.get(b"avro.codec", b"null")), pieces.take(MARK_BYTES)
        while pieces.left:
            pieces.long()  # how many rows
            size = pieces.long()
            if unpack is None:
                pieces.skip(size)
            else:
                check_block(unpack, pieces.take(size), pieces.at)
            if pieces.take(MARK_BYTES) != mark:
                raise ValueError(f"a block of rows does not end at byte {pieces.at}")


def header(pieces: "Pieces") -> dict[bytes, bytes]:
    """The map at the beginning."""
    found = {}
    while count := pieces.long():
        if count < 0:
            pieces.long()  # how many bytes these entries have
        for _ in range(abs(count)):
            name = pieces.take(pieces.long())
            found[name] = pieces.take(pieces.long())
    return found


def check_block(unpack: Callable[[bytes], object], packed: bytes, end: int) -> None:
    """Raises ValueError if a block that ends at the byte ``end`` cannot be unpacked."""
    try:
        unpack(packed)
    except (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(
            f"a block of rows that ends at byte {end} cannot be unpacked: {error}"
        ) from error


def unpack_snappy(packed: bytes) -> None:
    """Unpacks a block, and compares the checksum behind it."""
    import pyarrow as pa  # type: ignore[import-untyped]

    size, place = 0, 0
    for byte in packed[:5]:  # how long it is comes first, seven bits a byte
        size |= (byte & 0x7F) << place
        place += 7
        if byte < 0x80:
            break
    if size > SNAPPY_RATIO_MAX * len(packed):
        raise ValueError(f"it would be {size} bytes, which no block of {len(packed)} can be")
    rows = pa.Codec("snappy").decompress(packed[:-4], decompressed_size=size)
    if zlib.crc32(rows) != int.from_bytes(packed[-4:], "big"):
        raise ValueError("its checksum is another one")


def unpack_zstandard(packed: bytes) -> None:
    """Unpacks a block of several frames, or of one."""
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as file:
        file.read()


UNPACKING: dict[bytes, Callable[[bytes], object]] = {
    b"deflate": partial(zlib.decompress, wbits=-zlib.MAX_WBITS),
    b"snappy": unpack_snappy,
    b"zstandard": unpack_zstandard,
    b"bzip2": bz2.decompress,
    b"xz": lzma.decompress,
}
"""What can be found damaged; rows that are not packed cannot."""


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
