"""What every source and every sink promises, with a real broker."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.contracts.json_rows import parsed
from tests.servers.kafka import PASSWORD, Broker

from falkirk.connectors.kafka import KafkaSink, KafkaSource
from falkirk.dataflow.connecting import Limit
from falkirk.testing.contracts import SinkContract, SourceContract

pytestmark = pytest.mark.slow

NOWHERE = "127.0.0.1:1"
SECRETS = (PASSWORD,)


@pytest.fixture
def topic(kafka: Broker) -> str:
    """A new topic with three partitions."""
    return kafka.new_topic(3)


class TestSource(SourceContract):
    """A topic that is read on the driver, by somebody who has to say who he is."""

    secrets = SECRETS
    limit = Limit(rows=4)
    rows_max = 4

    @pytest.fixture
    def make(self, kafka: Broker, topic: str, expected: Any) -> Callable[[], Any]:
        return lambda: KafkaSource(
            kafka.secure,
            topic,
            options=kafka.login,
            group=f"group of {topic}",
            until="latest",
            driver_rows_max=1000,
        )

    @pytest.fixture
    def expected(self, kafka: Broker, topic: str) -> list[dict[str, Any]]:
        return sent(kafka, topic, {0: range(9), 1: range(9, 12), 2: range(12, 13)})

    @pytest.fixture
    def more(self, kafka: Broker, topic: str) -> Callable[[], list[dict[str, Any]]]:
        return lambda: sent(kafka, topic, {0: range(20, 22), 2: range(22, 23)})

    def rows(self, data: Any) -> list[dict[str, Any]]:
        found = super().rows(data)
        return [{"value": row["value"], "partition": row["partition"]} for row in found]

    @pytest.fixture
    def unreachable(self, kafka: Broker, topic: str) -> Any:
        return KafkaSource(NOWHERE, topic, options=kafka.login, client={"socket.timeout.ms": "500"})


def sent(kafka: Broker, topic: str, wanted: dict[int, range]) -> list[dict[str, Any]]:
    """Sends numbers to partitions, and returns the rows that they are."""
    for partition, numbers in wanted.items():
        kafka.send(topic, list(numbers), partition)
    return [
        {"value": str(number).encode(), "partition": partition}
        for partition, numbers in wanted.items()
        for number in numbers
    ]


class TestSink(SinkContract):
    """A transaction for each time."""

    secrets = SECRETS

    @pytest.fixture
    def make(self, kafka: Broker, topic: str) -> Callable[[], Any]:
        return lambda: KafkaSink(kafka.secure, topic, key="k", options=kafka.login)

    @pytest.fixture
    def shown(self, kafka: Broker, topic: str, types: Any) -> Callable[[], list[dict[str, Any]]]:
        return lambda: [parsed(json.loads(value), types.schema) for value in kafka.values(topic)]

    @pytest.fixture
    def unreachable(self, kafka: Broker, topic: str) -> Iterator[Any]:
        sink = KafkaSink(NOWHERE, topic, options=kafka.login, client={"socket.timeout.ms": "500"})
        yield sink
        sink.close()
