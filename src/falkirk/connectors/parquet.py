"""Parquet files as a sink: a folder for each time, which appears whole or not at all."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from falkirk.core.times import Time


@dataclass(frozen=True, slots=True)
class ParquetSink:
    """Writes ``path/epoch=N/``, which Spark and Arrow read as one table with a column ``epoch``.

    A time that is there already is left as it is, so writing it again changes nothing.
    """

    path: str | Path

    exactly_once = True

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Writes into a hidden folder and renames that."""
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        folder = Path(self.path) / f"epoch={time[0]}"
        if folder.exists():
            return
        hidden = Path(self.path) / f".{name}-{time[0]}"
        shutil.rmtree(hidden, ignore_errors=True)
        if batch.small:
            hidden.mkdir(parents=True)
            pq.write_table(batch.arrow(), hidden / "part-0.parquet")
            flush(hidden / "part-0.parquet")
        else:
            batch.frame.write.parquet(str(hidden))
            for part in hidden.iterdir():
                flush(part)
        flush(hidden)
        hidden.rename(folder)
        flush(folder.parent)


def flush(path: Path) -> None:
    """Waits until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
