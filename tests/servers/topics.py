"""What is in a Kafka cluster, as others see it: by its own client, and not by ours."""

import time
from collections.abc import Sequence
from contextlib import closing
from functools import cached_property
from typing import Any
from uuid import uuid4

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

QUIET = {"log_level": 0}


class Topics:
    """The topics of the cluster at ``servers``."""

    def __init__(self, servers: str) -> None:
        """Connects when it is first asked."""
        self.servers = servers

    @cached_property
    def admin(self) -> Any:
        """A client for administration."""
        return AdminClient({"bootstrap.servers": self.servers, **QUIET})

    def new_topic(self, partitions: int = 1, name: str = "", **config: Any) -> str:
        """The name of a new topic; settings have underscores for dots."""
        name = name or f"topic-{uuid4().hex[:12]}"
        named = {key.replace("_", "."): str(value) for key, value in config.items()}
        topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=named)
        self.admin.create_topics([topic])[name].result()
        self.wait_for(name, partitions)
        return name

    def has(self, topic: str) -> bool:
        """Whether there is such a topic."""
        return topic in self.admin.list_topics(timeout=10).topics

    def widen(self, topic: str, partitions: int) -> None:
        """Gives a topic more partitions."""
        self.admin.create_partitions([NewPartitions(topic, partitions)])[topic].result()
        self.wait_for(topic, partitions)

    def wait_for(self, topic: str, partitions: int) -> None:
        """Waits until everybody can see the partitions."""
        deadline = time.monotonic() + 30
        while len(self.admin.list_topics(topic, timeout=5).topics[topic].partitions) < partitions:
            assert time.monotonic() < deadline, f"{topic} never got {partitions} partitions"
            time.sleep(0.05)

    def send(
        self,
        topic: str,
        values: Sequence[Any],
        partition: int = 0,
        transaction: str = "",
        **more: Any,
    ) -> None:
        """Sends values to a partition: plainly, or ``commit`` or ``abort`` in a ``transaction``."""
        settings: dict[str, Any] = {"bootstrap.servers": self.servers, **QUIET}
        if transaction:
            settings["transactional.id"] = uuid4().hex
        producer = Producer(settings)
        if transaction:
            producer.init_transactions(30)
            producer.begin_transaction()
        for value in values:
            encoded = None if value is None else str(value).encode()
            producer.produce(topic, encoded, partition=partition, **more)
        assert producer.flush(30) == 0
        if transaction == "abort":
            producer.abort_transaction(30)
        elif transaction:
            producer.commit_transaction(30)

    def records(self, topic: str, isolation: str = "read_committed") -> list[Any]:
        """All messages of a topic that a new consumer sees."""
        settings = {
            "bootstrap.servers": self.servers,
            "group.id": uuid4().hex,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "fetch.wait.max.ms": 10,
            **QUIET,
        }
        consumer = Consumer(settings)
        with closing(consumer):
            partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
            consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
            found, left = [], len(partitions)
            deadline = time.monotonic() + 60
            while left:
                assert time.monotonic() < deadline, f"{topic} was not read to its end"
                message = consumer.poll(0.2)
                if message is None:
                    continue
                if message.error() is None:
                    found.append(message)
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    left -= 1
                else:
                    raise KafkaException(message.error())
        return found

    def values(self, topic: str, isolation: str = "read_committed") -> list[str]:
        """The values of all messages, as text."""
        return [(m.value() or b"").decode() for m in self.records(topic, isolation)]

    def committed(self, group: str, topic: str, partitions: int) -> list[int]:
        """The offsets that a group has committed."""
        settings = {"bootstrap.servers": self.servers, "group.id": group, **QUIET}
        consumer = Consumer(settings)
        asked = [TopicPartition(topic, p) for p in range(partitions)]
        found = [at.offset for at in consumer.committed(asked, timeout=10)]
        consumer.close()
        return found

    def cut(self, topic: str, offset: int, partition: int = 0) -> None:
        """Removes the records before ``offset``, as retention does."""
        asked = [TopicPartition(topic, partition, offset)]
        for done in self.admin.delete_records(asked).values():
            done.result()
