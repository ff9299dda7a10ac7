"""Any Python Data Source of PySpark that takes streams, as a sink."""

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from falkirk.connectors.discretion import unheard
from falkirk.core.errors import PermanentError
from falkirk.core.times import Time

OUTPUT = "falkirk.output"
"""The option by which a writer knows whose rows it gets."""


@dataclass(frozen=True, slots=True)
class PythonSink:
    """Writes to ``kind``, a class of ``pyspark.sql.datasource.DataSource``, with ``options``.

    Executors call its ``streamWriter``'s ``write``; then the driver calls ``commit(messages,
    batchId)``, or ``abort`` if a partition could not be written. The batch id is the epoch, and the
    option ``falkirk.output`` the name of the output, for several of them may write to one place.
    After a failure an epoch may be written and committed again: a writer that recognises its output
    and batch id is ``idempotent``, and then the sink is exactly once.
    """

    kind: type
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    idempotent: bool = False
    overwrite: bool = False

    @property
    def exactly_once(self) -> bool:
        """Whether the writer recognises an epoch that it has committed before."""
        return self.idempotent

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Writes all partitions, then commits."""
        frame = batch.frame
        writer = self._writer(frame, name)
        try:
            with unheard():
                done = frame.mapInArrow(writing(writer, frame.schema), "message BINARY")
            messages = [pickle.loads(row) for row in done.toArrow()["message"].to_pylist()]
        except Exception:
            writer.abort([], time[0])
            raise
        writer.commit(messages, time[0])

    def _writer(self, frame: Any, name: str) -> Any:
        from pyspark.errors import PySparkNotImplementedError
        from pyspark.sql.datasource import CaseInsensitiveDict

        source = self.kind(CaseInsensitiveDict({**self.options, OUTPUT: name}))
        try:
            return source.streamWriter(frame.schema, self.overwrite)
        except PySparkNotImplementedError:
            raise PermanentError(
                f"{self.kind.__name__} has no streamWriter, so a stream cannot be written to it"
            ) from None


def writing(writer: Any, schema: Any) -> Any:
    """The function that writes one partition, on an executor, and returns its commit message."""
    from pyspark.sql.datasource import DataSourceStreamArrowWriter

    arrow = isinstance(writer, DataSourceStreamArrowWriter)

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped]

        message = writer.write(batches if arrow else rows_of(batches, schema))
        yield pa.RecordBatch.from_pydict({"message": [pickle.dumps(message)]})

    return write


def rows_of(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    """Arrow batches as Spark's rows."""
    import pyarrow as pa
    from pyspark.sql.conversion import ArrowTableToRowsConversion

    for batch in batches:
        yield from ArrowTableToRowsConversion.convert(pa.Table.from_batches([batch]), schema)
