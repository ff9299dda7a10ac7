"""A durable batch: what the store and its users know of one file or folder of Parquet."""

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
    """

    name: str
    kind: str
    rows: int
    size: int
    checksum: str

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
