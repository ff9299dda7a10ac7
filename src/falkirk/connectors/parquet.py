"""Parquet files as a sink."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from falkirk.connectors.file_sink import FileSink


@dataclass(frozen=True, slots=True)
class ParquetSink(FileSink):
    """Writes ``path/epoch=N/``, which Spark and Arrow read as one table with a column ``epoch``.

    It is a :class:`FileSink` as it comes, without options. A time that is there already is left as
    it is, so writing it again changes nothing. The folder belongs to one output of one store: epoch
    0 of another store is another epoch 0, and is refused. With ``replace`` what another store has
    left is deleted instead.
    """

    format: str = field(default="parquet", init=False, repr=False)
    options: Mapping[str, str] = field(default_factory=dict, init=False, repr=False, hash=False)

    @property
    def summary(self) -> str:
        """Its name says it."""
        return ""
