"""A topic as a sink: transactions, the watermark beside them, and who may write on."""

import json
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from tests.servers.kafka import Broker

from falkirk.connectors.kafka import KafkaSink
from falkirk.connectors.kafka.marks import TAIL, marks_topic
from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.testing.contracts.batches import Broken, Rows, Torn

pytestmark = pytest.mark.slow

NAME = "out"


def numbers(*values: int) -> Rows:
    """Rows with a number and a text."""
    return Rows(table(*values))


def table(*values: int) -> Any:
    """The same as a table."""
    return pa.table({"n": pa.array(values, pa.int64()), "text": [f"t{v}" for v in values]})


def written_to(kafka: Broker, store: str, number: int) -> str:
    """A topic to which a sink of ``store`` has written one time, and gone."""
    topic = kafka.new_topic()
    sink = KafkaSink(kafka.servers, topic)
    sink.attach(NAME, store)
    sink.write(NAME, (number,), numbers(number))
    sink.close()
    return topic


def test_a_record_has_key_value_headers_and_its_time(kafka: Broker) -> None:
    topic = kafka.new_topic()
    rows = pa.table(
        {
            "id": [7, None],
            "body": ["é", None],
            "more": [[{"key": "h", "value": b"1"}], None],
        }
    )
    sink = KafkaSink(kafka.servers, topic, key="id", value="body", headers="more")
    sink.write(NAME, (5,), Rows(rows))
    first, second = kafka.records(topic)
    mark = ("falkirk-time", b"[5]")
    assert (first.key(), first.value()) == (b"7", "é".encode())
    assert first.headers() == [("h", b"1"), mark]
    assert (second.key(), second.value(), second.headers()) == (None, None, [mark])
    sink.close()


def test_equal_keys_meet_where_java_would_put_them(kafka: Broker) -> None:
    topic = kafka.new_topic(7)
    sink = KafkaSink(kafka.servers, topic, key="text")
    sink.write(NAME, (0,), numbers(*range(50)))
    sink.close()
    found = {m.key(): m.partition() for m in kafka.records(topic)}
    assert len(found) == 50
    assert all(murmur2(key) % 7 == partition for key, partition in found.items())


def test_what_is_not_committed_is_not_seen(kafka: Broker) -> None:
    topic = kafka.new_topic()
    sink = KafkaSink(kafka.servers, topic)
    sink.attach(NAME, "store")
    with pytest.raises(Broken):
        sink.write(NAME, (0,), Torn(table(*range(2000))))
    assert kafka.values(topic) == []
    sink.write(NAME, (0,), numbers(1))
    assert [json.loads(v)["n"] for v in kafka.values(topic)] == [1]
    sink.close()


def test_a_transaction_that_a_dead_process_left_open_is_ended(kafka: Broker) -> None:
    """The next run need not wait for the time-out, and nor do those who read."""
    topic = kafka.new_topic()
    marks = marks_topic(topic, NAME)
    dead = Producer({"bootstrap.servers": kafka.servers, "transactional.id": marks})
    dead.init_transactions(30)
    dead.begin_transaction()
    dead.produce(topic, b"half of it")
    dead.flush(30)
    sink = KafkaSink(kafka.servers, topic)
    sink.attach(NAME, "store")
    sink.write(NAME, (0,), numbers(1))
    assert [json.loads(v)["n"] for v in kafka.values(topic)] == [1]
    assert "half of it" in kafka.values(topic, "read_uncommitted")
    sink.close()


def test_who_was_replaced_writes_no_more(kafka: Broker) -> None:
    topic = kafka.new_topic()
    older, newer = KafkaSink(kafka.servers, topic), KafkaSink(kafka.servers, topic)
    older.attach(NAME, "store")
    older.write(NAME, (0,), numbers(0))
    newer.attach(NAME, "store")
    with pytest.raises(PermanentError, match="Another run writes to this sink now"):
        older.write(NAME, (1,), numbers(1))
    newer.write(NAME, (0,), numbers(0))
    newer.write(NAME, (1,), numbers(1))
    assert [json.loads(v)["n"] for v in kafka.values(topic)] == [0, 1]
    older.close()
    newer.close()


def test_the_watermark_is_found_however_many_transactions_were_aborted(kafka: Broker) -> None:
    topic = written_to(kafka, "store", 3)
    marks = marks_topic(topic, NAME)
    producer = Producer({"bootstrap.servers": kafka.servers, "transactional.id": marks})
    producer.init_transactions(30)
    for _ in range(TAIL):
        producer.begin_transaction()
        producer.produce(marks, b"never")
        producer.flush(30)
        producer.abort_transaction(30)
    again = KafkaSink(kafka.servers, topic, options={"kafka.isolation.level": "read_uncommitted"})
    again.attach(NAME, "store")
    again.write(NAME, (3,), numbers(3))
    again.write(NAME, (4,), numbers(4))
    assert [json.loads(v)["n"] for v in kafka.values(topic)] == [3, 4]
    again.close()


def test_another_store_may_write_on_when_asked(kafka: Broker) -> None:
    topic = written_to(kafka, "one", 7)
    with pytest.raises(PermanentError, match=r"from another store, up to time \[7\].*adopt=True"):
        KafkaSink(kafka.servers, topic).attach(NAME, "two")
    second = KafkaSink(kafka.servers, topic, adopt=True)
    second.attach(NAME, "two")
    second.write(NAME, (0,), numbers(0))
    second.write(NAME, (0,), numbers(0))
    second.close()
    second.attach(NAME, "two")
    second.write(NAME, (0,), numbers(0))
    second.close()
    assert [json.loads(v)["n"] for v in kafka.values(topic)] == [7, 0]


def test_a_topic_of_marks_belongs_to_one_sink(kafka: Broker) -> None:
    topic, marks = kafka.new_topic(), f"marks-{uuid4().hex}"
    sink = KafkaSink(kafka.servers, topic, marks=marks)
    sink.attach("one", "store")
    sink.write("one", (0,), numbers(0))
    with pytest.raises(PermanentError, match="watermarks of the sink 'one', not of 'two'"):
        sink.attach("two", "store")
    sink.close()
    kafka.send(topic, ["no mark"])
    with pytest.raises(PermanentError, match="something else than watermarks"):
        KafkaSink(kafka.servers, topic, marks=topic).attach("one", "store")


def test_watermarks_are_compacted_and_never_expire(kafka: Broker) -> None:
    from confluent_kafka.admin import ConfigResource, ResourceType

    topic = kafka.new_topic()
    sink = KafkaSink(kafka.servers, topic)
    sink.attach(NAME, "store")
    sink.close()
    asked = ConfigResource(ResourceType.TOPIC, marks_topic(topic, NAME))
    (found,) = kafka.admin.describe_configs([asked]).values()
    assert found.result()["cleanup.policy"].value == "compact"


def test_without_transactions_a_time_that_is_sent_again_is_there_twice(kafka: Broker) -> None:
    """The check has teeth: what is exactly once is so by transactions."""
    topic = kafka.new_topic()
    sink = KafkaSink(kafka.servers, topic, transactional=False)
    assert not sink.exactly_once
    sink.attach(NAME, "store")
    sink.write(NAME, (0,), numbers(1))
    sink.write(NAME, (0,), numbers(1))
    assert [json.loads(v)["n"] for v in kafka.values(topic)] == [1, 1]
    sink.close()


@pytest.mark.parametrize("transactional", [True, False])
def test_many_rows_go_through_a_small_queue(kafka: Broker, transactional: bool) -> None:
    topic = kafka.new_topic()
    sink = KafkaSink(
        kafka.servers,
        topic,
        value="text",
        transactional=transactional,
        client={"queue.buffering.max.messages": "100"},
    )
    sink.attach(NAME, "store")
    sink.write(NAME, (0,), numbers(*range(5_000)))
    assert kafka.values(topic) == [f"t{n}" for n in range(5_000)]
    sink.close()


def test_a_topic_that_is_missing_is_an_error_at_once(kafka: Broker) -> None:
    with pytest.raises(ConnectorError, match="'no-such-topic' cannot be used"):
        KafkaSink(kafka.servers, "no-such-topic").attach(NAME, "store")


def test_a_column_that_is_missing_stops_the_flow(kafka: Broker) -> None:
    topic = kafka.new_topic()
    sink = KafkaSink(kafka.servers, topic, key="id")
    with pytest.raises(PermanentError, match=r"the key from a column 'id'.* have n, text"):
        sink.write(NAME, (0,), numbers(1))
    sink.close()


def test_a_record_that_is_too_large_stops_the_flow(kafka: Broker) -> None:
    topic = kafka.new_topic()
    sink = KafkaSink(kafka.servers, topic, value="text")
    large = Rows(pa.table({"text": ["x" * 2_000_000]}))
    with pytest.raises(PermanentError, match="MSG_SIZE_TOO_LARGE"):
        sink.write(NAME, (0,), large)
    sink.close()


def murmur2(data: bytes) -> int:
    """The hash by which Java's producer chooses a partition."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = (0x9747B28C ^ len(data)) & mask
    for i in range(0, len(data) - 3, 4):
        k = int.from_bytes(data[i : i + 4], "little") * m & mask
        h = h * m & mask ^ ((k ^ k >> 24) * m & mask)
    if rest := data[len(data) & ~3 :]:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF
