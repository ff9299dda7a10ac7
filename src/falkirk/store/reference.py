"""A durable batch: what the store and its users know of one file or folder of Parquet."""

from dataclasses import dataclass


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
