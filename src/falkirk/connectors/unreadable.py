"""Files that are not what they are called, and files that cannot be unpacked."""

from collections.abc import Callable, Sequence
from pathlib import Path

from falkirk.connectors.avro_blocks import check_avro
from falkirk.connectors.compressed import broken

WHOLE = ("parquet", "orc", "avro")
"""The formats of which a file can be read, or not, as a whole."""

Unreadable = tuple[str, str]
"""A file, and what is wrong with it."""


def divided(paths: Sequence[str], format: str) -> tuple[list[str], list[Unreadable]]:
    """The files that can be opened as ``format``, and the names of those that cannot.

    Parquet and ORC say at their end what is in them, Avro at its beginning and before each block.
    So files that were cut off, are empty or are something else are found; the rows are not read.
    Of other formats, compressed files are unpacked.
    """
    if format not in WHOLE:
        told = broken(paths)
        names = {name for name, _ in told}
        return [path for path in paths if Path(path).name not in names], told
    good, bad = [], []
    for path in paths:
        try:
            OPENING[format](path)
        except (ValueError, OSError) as error:
            if getattr(error, "errno", None) is not None:
                raise  # the disk's trouble, and not the file's
            bad.append((Path(path).name, f"this is no {format} file: {error}"))
        else:
            good.append(path)
    return good, bad


def open_parquet(path: str) -> None:
    """Reads the end of a Parquet file."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    pq.read_metadata(path)


def open_orc(path: str) -> None:
    """Reads the end of an ORC file."""
    from pyarrow.orc import ORCFile  # type: ignore[import-untyped]

    ORCFile(path)


OPENING: dict[str, Callable[[str], None]] = {
    "parquet": open_parquet,
    "orc": open_orc,
    "avro": check_avro,
}
