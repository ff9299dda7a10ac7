"""Files that are not what they are called, and files that cannot be unpacked."""

from collections.abc import Callable, Sequence
from pathlib import Path

from falkirk.connectors.avro_blocks import check_avro
from falkirk.connectors.compressed import broken, refuse_trouble

WHOLE = ("parquet", "orc", "avro")
"""The formats of which a file can be read, or not, as a whole."""

Unreadable = tuple[str, str]
"""A file, and what is wrong with it."""


def divided(paths: Sequence[str], format: str) -> tuple[list[str], list[Unreadable]]:
    """The files that can be read as ``format`` to their end, and the names of those that cannot.

    All of a file is decoded, so one that was cut off, is empty or something else is found, and one
    that is damaged inside, as far as its format can tell. What Arrow does not know is left to
    Spark. Of other formats, compressed files are unpacked.
    """
    if format not in WHOLE:
        told = broken(paths)
        names = {name for name, _ in told}
        return [path for path in paths if Path(path).name not in names], told
    good, bad = [], []
    for path in paths:
        try:
            DECODING[format](path)
        except NotImplementedError:
            good.append(path)
        except (ValueError, OSError) as error:
            refuse_trouble(error)
            bad.append((Path(path).name, f"this cannot be read to its end as {format}: {error}"))
        else:
            good.append(path)
    return good, bad


def decode_parquet(path: str) -> None:
    """Decodes a Parquet file; where pages have checksums these are compared."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    with pq.ParquetFile(path, pre_buffer=False, page_checksum_verification=True) as file:
        for _ in file.iter_batches():
            pass


def decode_orc(path: str) -> None:
    """Decodes an ORC file, which has no checksums of its own."""
    import pyarrow as pa
    from pyarrow.orc import ORCFile  # type: ignore[import-untyped]

    try:
        file = ORCFile(path)
        for stripe in range(file.nstripes):
            file.read_stripe(stripe)
    except pa.ArrowException as error:
        if "zoneinfo" in str(error):  # this machine knows no time zones; Java brings its own
            raise NotImplementedError from error
        raise ValueError(str(error)) from error


DECODING: dict[str, Callable[[str], None]] = {
    "parquet": decode_parquet,
    "orc": decode_orc,
    "avro": check_avro,
}
