"""Compressed files of text that break off, or are damaged: found by unpacking them to their end.

Spark chooses what unpacks a file by the end of its name, and fails when that fails. What is before
the break would be rows like any other, but nobody knows how many there should be. So such a file is
left out as a whole, and told.
"""

import bz2
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

BROKEN = "this file cannot be unpacked to its end: "
"""What the record of such a file begins with."""

PIECE_BYTES = 1 << 16
THREADS_MAX = 8
"""How many files are unpacked at once: it lets other threads run."""

COMPLAINTS = (EOFError, OSError, ValueError, zlib.error)


def broken(paths: Sequence[str]) -> list[tuple[str, str]]:
    """The names of the files that cannot be unpacked, each with what its record is to say."""
    packed = [path for path in paths if Path(path).suffix in OPENERS]
    if not packed:
        return []
    with ThreadPoolExecutor(min(THREADS_MAX, len(packed))) as threads:
        complaints = list(threads.map(complaint, packed))
    return [
        (Path(path).name, f"{BROKEN}{said}")
        for path, said in zip(packed, complaints, strict=True)
        if said
    ]


def complaint(path: str) -> str:
    """What is wrong with a file; nothing if all of it can be unpacked."""
    try:
        for _ in unpacked(path):
            pass
    except COMPLAINTS as error:
        refuse_trouble(error)
        return str(error)
    return ""


def broken_line(path: Path) -> int | None:
    """The line in which a file breaks off; None if it is damaged, and nobody knows where."""
    lines = 1
    try:
        for piece in unpacked(str(path)):
            lines += piece.count(b"\n")
    except EOFError:
        return lines
    except COMPLAINTS as error:
        refuse_trouble(error)
    return None


def refuse_trouble(error: BaseException) -> None:
    """The disk's trouble is not the file's."""
    if getattr(error, "errno", None) is not None:
        raise error


def unpacked(path: str) -> Iterator[bytes]:
    """The bytes of a file, as far as there are any; then an error if it breaks off."""
    return OPENERS[Path(path).suffix](path)


def by_streams(new: Callable[[], Any], path: str) -> Iterator[bytes]:
    """The bytes of a file that is one stream, or several one behind the other, and no more."""
    stream: Any = None
    with open(path, "rb") as file:
        while piece := file.read(PIECE_BYTES):
            while piece:
                stream = stream or new()
                yield stream.decompress(piece)
                piece = b""
                if stream.eof:
                    piece, stream = stream.unused_data, None
    if stream is not None:
        raise EOFError("it breaks off")


def by_zstandard(path: str) -> Iterator[bytes]:
    """The bytes of all frames; of one that breaks off the last ones are lost."""
    import pyarrow as pa  # type: ignore[import-untyped]

    with pa.CompressedInputStream(pa.OSFile(path), "zstd") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


OPENERS: dict[str, Callable[[str], Iterator[bytes]]] = {
    ".gz": partial(by_streams, partial(zlib.decompressobj, 31)),
    ".deflate": partial(by_streams, zlib.decompressobj),
    ".bz2": partial(by_streams, bz2.BZ2Decompressor),
    ".zst": by_zstandard,
}
"""By the ends of names, as Spark has them."""
