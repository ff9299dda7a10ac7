"""A durable batch: what the store and its users know of a file or folder of Parquet, or a part."""

import re
from dataclasses import dataclass
from typing import NamedTuple
from uuid import uuid4


class Piece(NamedTuple):
    """One of several pieces into which the rows of a trace are divided by their keys."""

    number: int
    of: int


_PIECE = re.compile(r"-(\d+)of(\d+)(\.parquet)?$")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Reference:
    """Names a durable batch; whoever holds the Reference that the store gave keeps its file alive.

    ``name`` is unique, never used again, and the name on disk. ``kind`` is "file" (one Parquet file
    written by Arrow) or "folder" (written by Spark). ``size`` is in bytes. ``checksum`` is that of
    the file or, for a folder, of its sorted listing of names, sizes and checksums.

    Small batches may share a file. Each is a part then: the rows from ``start`` on of what it is
    ``within``, with its share of the size.
    """

    name: str
    kind: str
    rows: int
    size: int
    checksum: str
    within: "Reference | None" = None
    start: int = 0

    @property
    def whole(self) -> "Reference":
        """The file or folder as a whole."""
        return self.within or self

    def part(self, start: int, rows: int) -> "Reference":
        """Some of the rows; it keeps the whole alive.

        >>> Reference("a.parquet", "file", 10, 500, "").part(4, 2).size
        100
        """
        size = round(self.size * rows / self.rows) if self.rows else 0
        return Reference(self.name, self.kind, rows, size, self.checksum, self, start)

    @property
    def piece(self) -> Piece | None:
        """Which piece of a trace it is, if it is one.

        >>> Reference(new_name(Piece(2, 4)) + ".parquet", "file", 0, 0, "").piece
        Piece(number=2, of=4)
        """
        found = _PIECE.search(self.name)
        return Piece(int(found[1]), int(found[2])) if found else None


def new_name(piece: Piece | None = None) -> str:
    """A name that was never used; it tells which piece of a trace the batch is."""
    return uuid4().hex + (f"-{piece.number}of{piece.of}" if piece else "")
