"""Writing to Kafka: a transaction for each time, or records that are simply sent."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from typing import Any

from confluent_kafka import KafkaException, Producer

from falkirk.connectors.kafka.failing import ASIDE, Heard, log, translated
from falkirk.connectors.kafka.marks import Mark, Marks
from falkirk.connectors.kafka.records import Shape
from falkirk.connectors.kafka.settings import Settings
from falkirk.core.errors import OutageError, PermanentError
from falkirk.core.times import Time

SECONDS = 30.0
"""How long one step of a transaction may take before it is tried again from the start."""

PRODUCING = {
    "enable.idempotence": True,
    "partitioner": "murmur2_random",  # as Java has it: equal keys meet whoever wrote them
    "linger.ms": 5,
    "log_level": 4,
    "reconnect.backoff.max.ms": 1000,
    "queue.buffering.max.kbytes": 64 * 1024,
}
TRANSACTIONS = {"transaction.timeout.ms": 300_000}


class Producing:
    """Sends the records of one sink."""

    def __init__(self, settings: Settings, topic: str, sink: str, shape: Shape) -> None:
        """Connects when something is to be sent."""
        self.settings, self.topic, self.sink, self.shape = settings, topic, sink, shape
        self.heard = Heard()
        self.producer: Any = None
        self.failed: Any = None

    def write(self, time: Time, batches: Iterable[Any]) -> None:
        """Sends all rows and waits until the cluster has them."""
        with self._translated(f"writing time {time} to {self.topic!r}"):
            if self.producer is None:
                self.producer = self._made({})
            try:
                self._send(time, batches)
                left = self.producer.flush(SECONDS)
            except BaseException:
                self.close()
                raise
            self._raise_failed()
            if left:
                self.close()
                raise OutageError(
                    f"Kafka at {self.settings.servers}: {left} records for {self.topic!r} were not"
                    f" taken in {SECONDS:.0f} seconds"
                )

    def close(self) -> None:
        """Drops the producer and what it has not sent."""
        producer, self.producer = self.producer, None
        if producer is not None:
            with suppress(KafkaException):
                producer.purge()
                producer.poll(0)

    def _made(self, more: dict[str, Any]) -> Any:
        native = {k: v for k, v in self.settings.native.items() if k != "isolation.level"}
        return Producer({**PRODUCING, **more, **native, "error_cb": self.heard}, logger=ASIDE)

    def _send(self, time: Time, batches: Iterable[Any]) -> None:
        self.failed = None
        mark = ("falkirk-time", json.dumps(list(time)).encode())
        for key, value, headers in self._records(batches):
            self._produce(self.topic, value, key, [*headers, mark])
        self._raise_failed()

    def _records(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            self.shape.check(batch.schema.names, self.sink)
            yield from self.shape.records(batch)

    def _produce(self, topic: str, value: Any, key: Any, headers: Any) -> None:
        """Queues one record; where the queue is full, waits until some are sent."""
        waited = 0
        while True:
            try:
                self.producer.produce(
                    topic, value, key, headers=headers, on_delivery=self._delivered
                )
                self.producer.poll(0)
                return
            except BufferError:
                waited += 1
                if waited > SECONDS:
                    raise OutageError(
                        f"Kafka at {self.settings.servers} took no record for {SECONDS:.0f} seconds"
                    ) from None
                self.producer.poll(1.0)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None and self.failed is None:
            self.failed = error

    def _raise_failed(self) -> None:
        failed, self.failed = self.failed, None
        if failed is not None:
            raise KafkaException(failed)

    def _translated(self, what: str) -> Any:
        return translated(self.settings, what, self.heard)


class Transacting(Producing):
    """Sends each time in a transaction, together with the mark that says so.

    After anything that went wrong the producer is dropped. The next one has the same name, so the
    cluster first ends whatever the last one has begun, and then says how far that came.
    """

    def __init__(
        self, settings: Settings, topic: str, sink: str, shape: Shape, marks: Marks
    ) -> None:
        """``attach`` comes before anything is written."""
        super().__init__(settings, topic, sink, shape)
        self.marks, self.store, self.adopt = marks, "", False
        self.newest: Time | None = None

    def attach(self, store: str, adopt: bool) -> None:
        """Goes on after what ``store`` has written; refuses what another one has."""
        self.close()
        self.store, self.adopt = store, adopt
        self._open()

    def write(self, time: Time, batches: Iterable[Any]) -> None:
        """Sends all rows of ``time`` and its mark in one transaction, unless that was done."""
        if self.producer is None:
            self._open()
        if self.newest is not None and time <= self.newest:
            return
        with self._translated(f"writing time {time} to {self.topic!r}"):
            try:
                self.producer.begin_transaction()
                self._send(time, batches)
                mark = Mark(self.sink, self.store, time)
                self._produce(self.marks.topic, mark.encoded(), self.sink.encode(), None)
                self.producer.commit_transaction(SECONDS)
            except BaseException:
                self._abort()
                raise
        self.newest = time

    def _abort(self) -> None:
        """Readers need not wait for what will not be; if even that fails, the next open does it."""
        try:
            self.producer.abort_transaction(SECONDS)
        except KafkaException as error:
            log.info("a transaction of %s is left to the cluster: %s", self.sink, error)
        self.close()

    def _open(self) -> None:
        with closing(self.marks):
            self._newest()  # refuses before anybody is fenced
            with self._translated(f"beginning to write to {self.topic!r}"):
                producer = self._made({**TRANSACTIONS, "transactional.id": self.marks.topic})
                producer.init_transactions(SECONDS)
            self.newest, self.producer = self._newest(), producer

    def _newest(self) -> Time | None:
        mark = self.marks.newest()
        if mark is None:
            return None
        if mark.sink != self.sink:
            raise PermanentError(
                f"the topic {self.marks.topic!r} has the watermarks of the sink {mark.sink!r}, not"
                f" of {self.sink!r}: give each sink its own"
            )
        if mark.store == self.store:
            return mark.time
        if self.adopt:
            return None
        raise PermanentError(
            f"the topic {self.topic!r} at {self.settings.servers} has records of the sink"
            f" {self.sink!r} from another store, up to time {list(mark.time)}. Run on that store;"
            " or give the sink another name or topic; or, to write on behind those records, use"
            " adopt=True"
        )
