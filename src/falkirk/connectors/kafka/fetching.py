"""Reading exact spans with a Kafka client of this process, into the columns that Spark gives."""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from falkirk.connectors.kafka.columns import arrow_schema
from falkirk.connectors.kafka.failing import ASIDE
from falkirk.connectors.kafka.offsets import Span
from falkirk.core.errors import ConnectorError, OutageError, PermanentError

AT_ONCE = 5_000
"""How many records a batch has at most."""

PATIENCE_SECONDS = 30.0
"""How long a broker may bring nothing before the reading fails."""

READING = {
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "fetch.wait.max.ms": 10,
    "fetch.error.backoff.ms": 50,
    "reconnect.backoff.max.ms": 1000,
    "log_level": 4,
}


class Fetching:
    """A consumer that reads spans, one request after the other."""

    def __init__(self, native: Mapping[str, str], headers: bool = False) -> None:
        """``native`` are librdkafka's settings; with ``headers`` there is a column for them."""
        self.servers = native["bootstrap.servers"]
        self.schema = arrow_schema(headers)
        level = {"isolation.level": "read_committed", "group.id": "falkirk"}
        self._consumer = Consumer({**level, **native, **READING}, logger=ASIDE)

    def batches(self, spans: list[Span]) -> Iterator[pa.RecordBatch]:
        """The records of ``spans`` in Arrow batches, as they come."""
        left = {(span.topic, span.partition): span for span in spans}
        self._consumer.assign([TopicPartition(s.topic, s.partition, s.start) for s in spans])
        try:
            heard = time.monotonic()
            while left:
                messages = self._come()
                rows = [self._row(message) for message in messages if self._taken(message, left)]
                if messages:
                    heard = time.monotonic()
                elif time.monotonic() - heard > PATIENCE_SECONDS:
                    raise OutageError(
                        f"Kafka at {self.servers}: nothing came of {sorted(left.values())[0]} in"
                        f" {PATIENCE_SECONDS:.0f} seconds"
                    )
                if rows:
                    columns = [list(column) for column in zip(*rows, strict=True)]
                    yield pa.RecordBatch.from_arrays(
                        [pa.array(c, f.type) for c, f in zip(columns, self.schema, strict=True)],
                        schema=self.schema,
                    )
        except KafkaException as error:
            raise OutageError(f"Kafka at {self.servers}: reading: {error.args[0].str()}") from None
        finally:
            self._consumer.resume([TopicPartition(s.topic, s.partition) for s in spans])
            self._consumer.unassign()

    def table(self, spans: list[Span]) -> pa.Table:
        """All records of ``spans``, partition by partition in the order of their offsets."""
        found = pa.Table.from_batches(self.batches(spans), self.schema)
        order = [(name, "ascending") for name in ("topic", "partition", "offset")]
        return found.sort_by(order)

    def close(self) -> None:
        """Ends the connections."""
        with suppress(KafkaException, RuntimeError):
            self._consumer.close()

    def _come(self) -> list[Any]:
        """The next messages: waits for one, and takes what has come with it."""
        first = self._consumer.poll(0.2)
        return [] if first is None else [first, *self._consumer.consume(AT_ONCE - 1, timeout=0)]

    def _taken(self, message: Any, left: dict[tuple[str, int], Span]) -> bool:
        """Whether a message lies in its span; a span that has come to its end is dropped."""
        place = (message.topic(), message.partition())
        span = left.get(place)
        if message.error() is not None and not self._is_end(message, span):
            return False
        if span is None:
            return False
        offset = message.offset()
        if message.error() is not None or offset >= span.end - 1:
            del left[place]
            self._consumer.pause([TopicPartition(*place)])
        return message.error() is None and offset < span.end

    def _is_end(self, message: Any, span: Span | None) -> bool:
        """Whether a partition has no more; raises what cannot be waited for."""
        error = message.error()
        if error.code() == KafkaError._PARTITION_EOF:
            if span is not None and message.offset() < span.end:
                raise PermanentError(
                    f"Kafka at {self.servers}: {span.topic}-{span.partition} ends at"
                    f" {message.offset()}, before {span.end}, which was there when it was looked"
                    " at: the topic was made anew, or the broker has lost records. Restore it, or"
                    " begin with a new store"
                )
            return True
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise PermanentError(
                f"Kafka at {self.servers}: {message.topic()}-{message.partition()}: records that"
                f" are needed are gone: {error.str()}. Restore the topic, read on without them"
                ' by on_loss="skip", or begin with a new store'
            )
        if error.retriable() or error.code() in (KafkaError._TRANSPORT, KafkaError._TIMED_OUT):
            return False
        raise ConnectorError(f"Kafka at {self.servers}: {error.str()} ({error.name()})")

    def _row(self, message: Any) -> tuple[Any, ...]:
        kind, moment = message.timestamp()
        row = (
            message.key(),
            message.value(),
            message.topic(),
            message.partition(),
            message.offset(),
            moment * 1000 if kind else None,
            kind - 1 if kind else None,
        )
        if len(self.schema) == len(row):
            return row
        headers = message.headers()
        return (*row, [{"key": k, "value": v} for k, v in headers] if headers else None)
