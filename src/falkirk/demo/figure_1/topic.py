"""The record stream in Kafka: produced into a topic, and read from there as a flow's input."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from falkirk.connectors.kafka import KafkaSource
from falkirk.connectors.kafka.client import check_installed
from falkirk.connectors.kafka.offsets import count, flat, spans
from falkirk.core.errors import ConfigurationError
from falkirk.dataflow.connecting import Limit
from falkirk.demo.figure_1.records import record

ANSWER_SECONDS = 10.0
QUIET = {"log_level": 0}


@dataclass(frozen=True, slots=True)
class WholeEpochs:
    """A topic as a source that waits until an epoch's records are there, and takes just those.

    So which records an epoch has is known beforehand, and every answer can be checked.
    """

    topic: KafkaSource
    rows: int

    replayable = True

    @classmethod
    def of(cls, servers: str, topic: str, rows: int) -> "WholeEpochs":
        """Of a topic with one partition; an epoch is few rows, which need no job to be read."""
        source = KafkaSource(servers, topic, driver_rows_max=rows, record_bytes=100)
        return cls(source, rows)

    def initial(self) -> Any:
        """Before the first record."""
        return self.topic.initial()

    def latest(self, start: Any, limit: Limit) -> Any:
        """After one epoch's records, if they are all there."""
        end = self.topic.latest(start, Limit(rows=self.rows))
        return end if count(spans(flat(start), flat(end))) == self.rows else start

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The records of one epoch."""
        return self.topic.read(session, start, end)

    def size(self, start: Any, end: Any) -> int | None:
        """About how many bytes they have."""
        return self.topic.size(start, end)

    def finished(self, position: Any) -> bool:
        """They have no end."""
        return False

    def commit(self, end: Any) -> None:
        """Kafka keeps them as it was told to."""
        self.topic.commit(end)

    def close(self) -> None:
        """Ends the connections."""
        self.topic.close()


class Produced:
    """A topic of our own into which records are produced, so many every so many seconds."""

    def __init__(self, servers: str, rows: int, seconds: float) -> None:
        """Makes the topic; it has one partition, in which the order is that of the records."""
        check_installed()
        from confluent_kafka import KafkaException, Producer
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic

        self.servers, self.rows, self.seconds = servers, rows, seconds
        self.name = f"falkirk-figure-1-{uuid4().hex[:8]}"
        self._stopping = Event()
        settings: dict[str, Any] = {"bootstrap.servers": servers, **QUIET}
        self._admin = AdminClient(settings)
        try:
            self._admin.list_topics(timeout=ANSWER_SECONDS)
            self._admin.create_topics([NewTopic(self.name, 1)])[self.name].result()
        except KafkaException as error:
            raise ConfigurationError(
                f"no topic could be made in Kafka at {servers}: {error.args[0].str()}. Next: start"
                " a broker there, give another address as --kafka HOST:PORT, or leave --kafka out"
            ) from error
        self._producer = Producer({**settings, "enable.idempotence": True, "linger.ms": 20})
        self._thread = Thread(target=self._produce, name="records", daemon=True)

    def start(self) -> None:
        """Records begin to come."""
        self._thread.start()

    def close(self) -> None:
        """No more come, and the topic goes."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._producer.flush(ANSWER_SECONDS)
        self._admin.delete_topics([self.name])[self.name].result()

    def _produce(self) -> None:
        started, number = time.monotonic(), 0
        while not self._stopping.is_set():
            due = int((time.monotonic() - started) / self.seconds * self.rows)
            while number < due and not self._stopping.is_set():
                value = json.dumps(record(number))
                self._insist(lambda value=value: self._producer.produce(self.name, value))  # type: ignore[misc]
                number += 1
            self._producer.poll(0)
            self._stopping.wait(0.05)

    def _insist(self, send: Callable[[], None]) -> None:
        """Sends a record; while the producer's queue is full, waits."""
        while not self._stopping.is_set():
            try:
                send()
            except BufferError:
                self._producer.poll(0.1)
            else:
                return
