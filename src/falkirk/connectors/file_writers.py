"""Rows as files of a new folder: by Arrow if they are few and readers see no difference, or Spark.

Arrow quotes in CSV as Spark does not, writes no JSON, and its dates and moments in ORC are read as
others: what a folder holds must not depend on how many rows there were, so Spark writes those.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from falkirk.connectors.discretion import unheard
from falkirk.connectors.spark_formats import known_format
from falkirk.core.errors import PermanentError


def write_files(folder: Path, batch: Any, format: str, options: Mapping[str, str]) -> None:
    """Makes ``folder`` with all rows of ``batch`` in it."""
    by_arrow = BY_ARROW.get(format)
    if not (batch.small and by_arrow and not options and by_arrow(batch.arrow(), folder)):
        by_spark(batch, folder, format, options)


def parquet_by_arrow(table: Any, folder: Path) -> bool:
    """One Parquet file."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    folder.mkdir(parents=True)
    pq.write_table(table, folder / "part-0.parquet")
    return True


def orc_by_arrow(table: Any, folder: Path) -> bool:
    """One ORC file, unless a column has dates or moments, or could have them inside."""
    import pyarrow as pa
    import pyarrow.orc as orc  # type: ignore[import-untyped]

    if any(pa.types.is_temporal(kind) or pa.types.is_nested(kind) for kind in table.schema.types):
        return False
    folder.mkdir(parents=True)
    orc.write_table(table, folder / "part-0.orc")
    return True


BY_ARROW: dict[str, Callable[[Any, Path], bool]] = {
    "parquet": parquet_by_arrow,
    "orc": orc_by_arrow,
}
"""Who writes a table as one file of a new folder; False leaves it to Spark, and makes nothing."""


def by_spark(batch: Any, folder: Path, format: str, options: Mapping[str, str]) -> None:
    """Any format and any number of rows; few of them become one file."""
    from pyspark.errors import AnalysisException

    frame = batch.frame.coalesce(1) if batch.small else batch.frame
    try:
        with known_format(frame.sparkSession, format):
            with unheard():
                writer = frame.write.format(format).options(**options)
            writer.save(str(folder))
    except AnalysisException as error:
        raise PermanentError(f"{format} files cannot hold these rows: {error}") from error
