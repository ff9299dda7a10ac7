"""Exact spans of Kafka as Spark frames: by Spark's own connector, or by Python on executors."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from falkirk.connectors.discretion import unheard
from falkirk.connectors.kafka.columns import spark_schema
from falkirk.connectors.kafka.offsets import Span, nested
from falkirk.connectors.kafka.settings import Settings
from falkirk.core.errors import PermanentError


def spark_frame(
    session: Any, settings: Settings, spans: list[Span], headers: bool, loss: bool
) -> Any:
    """A batch read of Spark's Kafka connector; with ``loss`` it reads on where records are gone."""
    places = {(span.topic, span.partition): span for span in spans}
    assigned: dict[str, list[int]] = {}
    for topic, partition in places:
        assigned.setdefault(topic, []).append(partition)
    options = {
        "kafka.isolation.level": "read_committed",
        # A range may end with the mark of a transaction, after which nothing comes.
        "kafka.fetch.max.wait.ms": "20",
        "failOnDataLoss": "false" if loss else "true",
        "includeHeaders": "true" if headers else "false",
        **settings.java,
        "assign": json.dumps(assigned),
        "startingOffsets": json.dumps(nested({at: span.start for at, span in places.items()})),
        "endingOffsets": json.dumps(nested({at: span.end for at, span in places.items()})),
    }
    try:
        with unheard():
            return session.read.format("kafka").options(**options).load()
    except Exception as error:
        if "DATA_SOURCE_NOT_FOUND" not in str(error) and "find data source" not in str(error):
            raise
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{session.version}"
        raise PermanentError(
            "Spark has no Kafka connector: start it with the setting"
            f' spark.jars.packages={package}, or read with reader="python"'
        ) from None


def python_frame(session: Any, settings: Settings, spans: list[Span], headers: bool) -> Any:
    """A task for each span, in which Python reads with a client of its own; needs no jars."""
    native = dict(settings.native)

    def fetched(batches: Iterable[Any]) -> Iterator[Any]:
        from falkirk.connectors.kafka.fetching import Fetching

        fetching = Fetching(native, headers)
        try:
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    yield from fetching.batches([spans[place]])
        finally:
            fetching.close()

    numbered = session.range(0, len(spans), 1, len(spans))
    with unheard():
        return numbered.mapInArrow(fetched, spark_schema(headers))
