"""What is asked of a Kafka cluster without Spark: partitions, offsets, retention, commits."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from falkirk.connectors.kafka.failing import ASIDE, Heard, translated
from falkirk.connectors.kafka.offsets import Offsets
from falkirk.connectors.kafka.settings import Settings
from falkirk.core.errors import ConnectorError, OutageError

METADATA_SECONDS = 1.0
"""How old it may be what is known of partitions."""

SLICES = 10
"""So often is looked, while a cluster does not answer, whether it refuses to."""

DEFAULTS: dict[str, Any] = {
    "log_level": 4,
    "reconnect.backoff.max.ms": 1000,
    "socket.timeout.ms": 10_000,
}
"""A broker that comes back is found soon; a question takes no longer than a socket's time-out."""

NOBODY = "falkirk"
"""A consumer must name a group, also where it commits nothing."""

EARLIEST: Any = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
LATEST: Any = OffsetSpec.latest()  # type: ignore[no-untyped-call]

Place = tuple[str, int]


class Cluster:
    """One client for questions. Safe to use from several threads."""

    def __init__(self, settings: Settings, group: str | None = None) -> None:
        """Connects when it is first asked."""
        self.settings, self.group = settings, group
        self.seconds = int({**DEFAULTS, **settings.native}["socket.timeout.ms"]) / 1000
        self.heard = Heard()
        self._lock = Lock()
        self._clients: tuple[Any, Any] | None = None
        self._known: dict[str, tuple[float, int]] = {}

    def partitions(self, topics: Iterable[str]) -> list[Place]:
        """All partitions of ``topics``, the new ones too."""
        return [(topic, p) for topic in topics for p in range(self._count(topic))]

    def exists(self, topic: str) -> bool:
        """Whether there is such a topic."""
        return self._described(topic).error is None

    def beginnings(self, places: Iterable[Place]) -> Offsets:
        """The first offset that each partition still has."""
        return self._offsets(places, EARLIEST)

    def ends(self, places: Iterable[Place], committed: bool = True) -> Offsets:
        """The offset after the last that can be read; ``committed``: before open transactions."""
        return self._offsets(places, LATEST, committed)

    def since(self, places: Iterable[Place], milliseconds: int) -> Offsets:
        """The first offset of each partition that is not older; -1 where all are."""
        return self._offsets(places, OffsetSpec.for_timestamp(milliseconds))

    def setting(self, topic: str, name: str) -> str | None:
        """How a topic is set up; None where the broker does not tell."""
        with self._asking(f"reading the settings of {topic!r}") as (_, admin):
            asked = [ConfigResource(ResourceType.TOPIC, topic)]
            (found,) = admin.describe_configs(asked, request_timeout=self.seconds).values()
            entry = found.result().get(name)
        return None if entry is None else str(entry.value)

    def create(self, topic: str, partitions: int, config: dict[str, str]) -> None:
        """Makes a topic, unless it is there."""
        with self._asking(f"creating the topic {topic!r}") as (_, admin):
            wanted = NewTopic(topic, num_partitions=partitions, config=config)
            made = admin.create_topics([wanted], request_timeout=self.seconds)[topic]
            failed = made.exception()
            if failed is not None and failed.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise failed

    def commit(self, offsets: Offsets) -> None:
        """Tells the group how far its partitions are read."""
        wanted = [TopicPartition(*place, offset) for place, offset in sorted(offsets.items())]
        with self._asking(f"committing to the group {self.group!r}") as (consumer, _):
            for done in consumer.commit(offsets=wanted, asynchronous=False) or []:
                if done.error is not None:
                    raise KafkaException(done.error)

    def close(self) -> None:
        """Ends the connections; they are made anew when something is asked again."""
        with self._lock:
            clients, self._clients = self._clients, None
            self._known.clear()
        if clients is not None:
            clients[0].close()

    # How it asks.

    def _count(self, topic: str) -> int:
        looked, known = self._known.get(topic, (0.0, 0))
        if known and time.monotonic() - looked < METADATA_SECONDS:
            return known
        found = self._described(topic)
        if found.error is not None or not found.partitions:
            raise ConnectorError(
                f"Kafka at {self.settings.servers}: the topic {topic!r} cannot be used"
                f" ({found.error or 'it has no partitions'}): create it, or mend its name"
            )
        if len(found.partitions) != known:
            with self._asking(f"looking for the topic {topic!r}") as (_, admin):
                admin.list_topics(topic, timeout=self.seconds)  # it knows only what it has seen
        self._known[topic] = (time.monotonic(), len(found.partitions))
        return len(found.partitions)

    def _described(self, topic: str) -> Any:
        """What the cluster says of a topic. A consumer asks: others might have it created."""
        with self._asking(f"looking for the topic {topic!r}") as (consumer, _):
            for _ in range(SLICES - 1):
                try:
                    return consumer.list_topics(topic, timeout=self.seconds / SLICES).topics[topic]
                except KafkaException:
                    consumer.poll(0)
                    if self.heard.refusal is not None:
                        raise
            return consumer.list_topics(topic, timeout=self.seconds / SLICES).topics[topic]

    def _offsets(self, places: Iterable[Place], spec: Any, committed: bool = False) -> Offsets:
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        asked = {TopicPartition(*place): spec for place in places}
        if not asked:
            return {}
        with self._asking("looking for offsets") as (_, admin):
            told = admin.list_offsets(asked, isolation_level=level, request_timeout=self.seconds)
            found = {(at.topic, at.partition): of.result().offset for at, of in told.items()}
        if OFFSET_INVALID in found.values():  # a partition whose leader is only just coming back
            raise OutageError(f"Kafka at {self.settings.servers}: it knows no offsets yet")
        return found

    @contextmanager
    def _asking(self, what: str) -> Iterator[tuple[Any, Any]]:
        """A question. When it fails, the client is asked what it has heard from the cluster."""
        clients = self._connected()
        with translated(self.settings, what, self.heard):
            try:
                yield clients
            except KafkaException:
                clients[0].poll(0)
                raise

    def _connected(self) -> tuple[Any, Any]:
        with self._lock:
            if self._clients is None:
                common: dict[str, Any] = {**DEFAULTS, **self.settings.native}
                common["error_cb"] = self.heard
                reading = {"group.id": self.group or NOBODY, "enable.auto.commit": False}
                with translated(self.settings, "the settings"):
                    consumer = Consumer({**common, **reading}, logger=ASIDE)
                    asking = {k: v for k, v in common.items() if k != "isolation.level"}
                    self._clients = (consumer, AdminClient(asking, logger=ASIDE))
            return self._clients
