"""Any Python Data Source of PySpark that streams, as a source; its ``commit`` acknowledges."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from falkirk.connectors.discretion import unheard
from falkirk.core.errors import ConnectorError
from falkirk.dataflow.connecting import Limit

BATCH_ROWS = 10_000
"""How many tuples go into one Arrow batch."""


@dataclass(frozen=True, slots=True)
class PythonSource:
    """Reads ``kind``, a class of ``pyspark.sql.datasource.DataSource``, with ``options``.

    It has a ``streamReader``, whose partitions are read by executors, or a ``simpleStreamReader``,
    which is read on the driver. Offsets are positions. An epoch has what ``latestOffset`` offers;
    limits are passed on to those that take one. With ``schema`` the source's own is not asked for.

    The reader must give the same rows for the same two offsets until they are committed, as Spark
    asks of it too.
    """

    kind: type
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    schema: str | None = None
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    replayable = True

    def initial(self) -> Any:
        """What the reader calls its initial offset."""
        return self._reader().initialOffset()

    def latest(self, start: Any, limit: Limit) -> Any:
        """How far the reader lets one epoch go."""
        reader = self._reader()
        if self._made["simple"]:
            rows, end = reader.read(start)
            self._made["fetched"] = (start, end, list(rows))
            return end
        if not takes_limit(reader.latestOffset):
            return reader.latestOffset()
        return reader.latestOffset(start, read_limit(limit, reader))

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The rows between two offsets."""
        reader = self._reader()
        schema = self._schema()
        if self._made["simple"]:
            fetched = self._made.pop("fetched", None)
            if fetched is None or fetched[:2] != (start, end):
                rows = list(reader.readBetweenOffsets(start, end))
            else:
                rows = fetched[2]
            return table_of(rows, schema)
        partitions = list(reader.partitions(start, end))

        def fetch(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from batches_of(reader.read(partitions[number]), schema)

        numbers = session.range(0, len(partitions), 1, max(1, len(partitions)))
        with unheard():
            return numbers.mapInArrow(fetch, schema)

    def finished(self, position: Any) -> bool:
        """Never: a stream has no end."""
        return False

    def commit(self, end: Any) -> None:
        """Tells the reader that nothing before ``end`` will be asked for again."""
        self._reader().commit(end)

    def close(self) -> None:
        """Stops the reader, if it can be."""
        reader = self._made.pop("reader", None)
        if reader is not None:
            getattr(reader, "stop", lambda: None)()

    def _reader(self) -> Any:
        """The reader, made once for a run."""
        if "reader" not in self._made:
            from pyspark.errors import PySparkNotImplementedError

            source, schema = self._source(), self._schema()
            try:
                made, simple = source.streamReader(schema), False
            except PySparkNotImplementedError:
                try:
                    made, simple = source.simpleStreamReader(schema), True
                except PySparkNotImplementedError:
                    raise ConnectorError(
                        f"{self.kind.__name__} has neither a streamReader nor a simpleStreamReader,"
                        " so it cannot be read as it grows"
                    ) from None
            self._made.update(reader=made, simple=simple)
        return self._made["reader"]

    def _source(self) -> Any:
        if "source" not in self._made:
            from pyspark.sql.datasource import CaseInsensitiveDict

            self._made["source"] = self.kind(CaseInsensitiveDict(dict(self.options)))
        return self._made["source"]

    def _schema(self) -> Any:
        """Spark's schema of the rows; DDL is understood by Spark alone, which runs by then."""
        if "schema" not in self._made:
            from pyspark.sql.types import StructType

            given = self.schema or self._source().schema()
            made = StructType.fromDDL(given) if isinstance(given, str) else given
            self._made["schema"] = cast(StructType, made)
        return self._made["schema"]


def takes_limit(function: Any) -> bool:
    """Whether a ``latestOffset`` has the newer form, with where to start and a limit."""
    return len(inspect.signature(function).parameters) >= 2


def read_limit(limit: Limit, reader: Any) -> Any:
    """A limit as readers know it; theirs if there is none, and only one can be passed on."""
    from pyspark.sql.streaming import datasource as limits

    if limit.rows is not None:
        return limits.ReadMaxRows(limit.rows)
    if limit.files is not None:
        return limits.ReadMaxFiles(limit.files)
    if limit.bytes is not None:
        return limits.ReadMaxBytes(limit.bytes)
    return reader.getDefaultReadLimit()


def batches_of(rows: Iterable[Any], schema: Any) -> Iterator[Any]:
    """What a reader yields as Arrow batches: they may be batches already, or tuples."""
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql.pandas.types import to_arrow_schema

    wanted, held = to_arrow_schema(schema, timezone="UTC"), list[Any]()
    for row in rows:
        if isinstance(row, pa.RecordBatch):
            yield row.select(wanted.names).cast(wanted)
            continue
        held.append(row)
        if len(held) == BATCH_ROWS:
            yield from table_of(held, schema).to_batches()
            held = []
    if held:
        yield from table_of(held, schema).to_batches()


def table_of(rows: list[Any], schema: Any) -> Any:
    """Tuples, or rows with names, as an Arrow table."""
    import pyarrow as pa
    from pyspark.sql.conversion import LocalDataToArrowConversion
    from pyspark.sql.pandas.types import to_arrow_schema

    wanted = to_arrow_schema(schema, timezone="UTC")
    if not rows:
        return wanted.empty_table()
    if isinstance(rows[0], pa.RecordBatch):
        return pa.Table.from_batches(rows).select(wanted.names).cast(wanted)
    return LocalDataToArrowConversion.convert(rows, schema, False)
