"""Batches that need no running flow: rows on the driver, and rows that break off half-way."""

from collections.abc import Callable, Iterator
from typing import Any


class Broken(Exception):
    """What a torn batch raises: its rows could not be had."""


class Rows:
    """A batch of the rows of an Arrow table; with ``session`` it can be a Spark frame too.

    >>> import pyarrow as pa
    >>> Rows(pa.table({"n": [1, 2, 3]})).rows
    3
    """

    def __init__(self, table: Any, session: Any = None, small: bool = True) -> None:
        """``small`` False has a sink treat the rows as too many for the driver."""
        self.table, self.session, self.small = table, session, small

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    @property
    def frame(self) -> Any:
        """The rows as a DataFrame."""
        if self.session is None:
            raise NotImplementedError("these rows have no Spark session: give the fixture session")
        from pyspark.sql.pandas.types import from_arrow_schema

        table = self.table.combine_chunks()  # behind an empty piece Spark would read no row
        return self.session.createDataFrame(table, schema=from_arrow_schema(table.schema))

    def transform(self, function: Callable[[Any], Any]) -> "Rows":
        """What ``function`` makes of the frame."""
        return Rows(function(self.frame).toArrow(), self.session, self.small)

    def materialise(self) -> "Rows":
        """The rows are fixed already."""
        return self

    def spread(self) -> "Rows":
        """There is nobody to spread them to."""
        return self

    def arrow(self) -> Any:
        """The rows as an Arrow table."""
        return self.table

    def arrow_batches(self, rows_max: int = 10_000) -> Iterator[Any]:
        """The rows in pieces; one without rows if there are none."""
        from falkirk.runtime.streaming import empty_batch

        yield from self.table.to_batches(max_chunksize=rows_max) or [empty_batch(self.table.schema)]

    def is_empty(self) -> bool:
        """Whether there are no rows."""
        return self.rows == 0


class Torn(Rows):
    """Rows that break off: the first half can be had, then :class:`Broken` is raised."""

    @property
    def frame(self) -> Any:
        """Cannot be had."""
        raise Broken("the rows broke off")

    def arrow(self) -> Any:
        """Cannot be had."""
        raise Broken("the rows broke off")

    def arrow_batches(self, rows_max: int = 10_000) -> Iterator[Any]:
        """The first half, and no more."""
        yield from self.table.slice(0, self.rows // 2).to_batches(max_chunksize=rows_max)
        raise Broken("the rows broke off")
