"""Topics as a source: exact ranges, fair shares, acknowledgements, and what retention takes."""

import logging
import time
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer
from tests.servers.kafka import PASSWORD, Broker

from falkirk.connectors.kafka import KafkaSource
from falkirk.connectors.kafka.retention import Retention
from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.dataflow.connecting import UNLIMITED, Limit

pytestmark = pytest.mark.slow


def source(kafka: Broker, topics: Any, **more: Any) -> KafkaSource:
    """A source that reads on the driver."""
    return KafkaSource(kafka.servers, topics, **{"driver_rows_max": 10_000, **more})


def values(reading: KafkaSource, start: Any, end: Any) -> list[str]:
    """The values between two positions."""
    found: list[bytes] = reading.read(None, start, end).column("value").to_pylist()
    return [value.decode() for value in found]


def test_a_range_has_exactly_its_offsets(kafka: Broker) -> None:
    topic = kafka.new_topic(2)
    kafka.send(topic, range(10))
    kafka.send(topic, range(10, 20), partition=1)
    reading = source(kafka, topic)
    some = reading.read(None, {topic: {"0": 3, "1": 0}}, {topic: {"0": 5, "1": 1}})
    assert some.column("offset").to_pylist() == [3, 4, 0]
    assert some.column("value").to_pylist() == [b"3", b"4", b"10"]


def test_only_committed_records_are_read(kafka: Broker) -> None:
    topic = kafka.new_topic()
    kafka.send(topic, ["a", "b"], transaction="commit")
    kafka.send(topic, ["lost"], transaction="abort")
    kafka.send(topic, ["c"], transaction="commit")
    reading = source(kafka, topic)
    end = reading.latest(reading.initial(), UNLIMITED)
    assert end == {topic: {"0": 7}}, "the ends of three transactions take an offset each"
    assert values(reading, reading.initial(), end) == ["a", "b", "c"]
    inside = [values(reading, {topic: {"0": n}}, {topic: {"0": n + 1}}) for n in range(7)]
    assert inside == [["a"], ["b"], [], [], [], ["c"], []]


def test_nothing_behind_an_open_transaction_is_read(kafka: Broker) -> None:
    topic = kafka.new_topic()
    kafka.send(topic, ["before"])
    producer = Producer({"bootstrap.servers": kafka.servers, "transactional.id": uuid4().hex})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"open")
    producer.flush(30)
    kafka.send(topic, ["after"])
    reading = source(kafka, topic)
    first = reading.latest(reading.initial(), UNLIMITED)
    assert values(reading, reading.initial(), first) == ["before"]
    assert reading.latest(first, UNLIMITED) == first
    producer.commit_transaction(30)
    wait_until(lambda: reading.latest(first, UNLIMITED) != first)
    assert values(reading, first, reading.latest(first, UNLIMITED)) == ["open", "after"]
    uncommitted = source(kafka, topic, options={"kafka.isolation.level": "read_uncommitted"})
    assert values(uncommitted, reading.initial(), {topic: {"0": 3}}) == ["before", "open", "after"]


def test_a_limit_is_shared_fairly(kafka: Broker) -> None:
    topic = kafka.new_topic(3)
    for partition, number in enumerate((100, 100, 4)):
        kafka.send(topic, range(number), partition)
    reading = source(kafka, topic)
    start = reading.initial()
    assert reading.latest(start, Limit(rows=24)) == {topic: {"0": 10, "1": 10, "2": 4}}
    small = source(kafka, topic, record_bytes=50)
    for limit in (Limit(bytes=1249), Limit(bytes=9999, rows=24), Limit(bytes=1200, rows=99)):
        assert small.latest(start, limit) == {topic: {"0": 10, "1": 10, "2": 4}}
    assert sum(small.latest(start, Limit(bytes=1))[topic].values()) == 1, "never nothing"
    position, seen = start, set()
    for _ in range(3):
        after = reading.latest(position, Limit(rows=1))
        seen |= {p for p in "012" if after[topic][p] > position[topic][p]}
        position = after
    assert seen == {"0", "1", "2"}, "nobody waits for ever"


def test_new_partitions_are_read_from_their_beginning(kafka: Broker) -> None:
    topic = kafka.new_topic()
    kafka.send(topic, ["old"])
    reading = source(kafka, topic, start="latest")
    start = reading.initial()
    assert start == {topic: {"0": 1}}
    kafka.widen(topic, 3)
    kafka.send(topic, ["new"], partition=2)
    wait_until(lambda: reading.latest(start, UNLIMITED) != start)
    end = reading.latest(start, UNLIMITED)
    assert end == {topic: {"0": 1, "2": 1}}
    assert values(reading, start, end) == ["new"]


def test_where_to_start_and_where_to_end(kafka: Broker) -> None:
    one, two = kafka.new_topic(2), kafka.new_topic()
    for topic in (one, two):
        kafka.send(topic, range(6))
    kafka.cut(one, 2)
    reading = source(kafka, [one, two], start={two: {0: 4}}, until={one: {0: 4}, two: {0: 5}})
    start = reading.initial()
    assert start == {one: {"0": 2, "1": 0}, two: {"0": 4}}
    end = reading.latest(start, UNLIMITED)
    assert sorted(values(reading, start, end)) == ["2", "3", "4"]
    assert not reading.finished(start)
    assert reading.finished(end)
    assert not source(kafka, [one, two]).finished(end), "without an end it waits for more"


def test_the_group_hears_what_is_acknowledged(kafka: Broker) -> None:
    topic, group = kafka.new_topic(2), f"group-{uuid4().hex}"
    kafka.send(topic, range(10))
    reading = source(kafka, topic, group=group)
    reading.latest(reading.initial(), UNLIMITED)
    assert kafka.committed(group, topic, 2) == [-1001, -1001], "reading commits nothing"
    reading.commit({topic: {"0": 7}})
    reading.commit({topic: {"0": 4}})
    assert kafka.committed(group, topic, 2) == [7, -1001]
    reading.commit({topic: {"0": 8, "1": 0}})
    assert kafka.committed(group, topic, 2) == [8, 0]


def test_a_group_that_others_consume_with_is_refused(kafka: Broker) -> None:
    topic, group = kafka.new_topic(), f"group-{uuid4().hex}"
    kafka.send(topic, range(3))
    other = Consumer(
        {"bootstrap.servers": kafka.servers, "group.id": group, "auto.offset.reset": "earliest"}
    )
    other.subscribe([topic])
    wait_until(lambda: other.poll(0.5) is not None)
    with pytest.raises(PermanentError, match="Others consume with this group"):
        source(kafka, topic, group=group).commit({topic: {"0": 1}})
    other.close()


def test_what_retention_has_taken_is_an_error_with_choices(kafka: Broker) -> None:
    topic = kafka.new_topic()
    kafka.send(topic, range(10))
    reading = source(kafka, topic)
    start = reading.initial()
    middle = reading.latest(start, Limit(rows=4))
    kafka.cut(topic, 6)
    with pytest.raises(PermanentError) as failed:
        reading.latest(middle, UNLIMITED)
    text = str(failed.value)
    assert "removed 2 records" in text
    assert all(word in text for word in ("on_loss", "replayable=False", "new store", "restore"))
    with pytest.raises(PermanentError, match="are gone"):
        values(reading, start, middle)


def test_what_retention_has_taken_is_passed_over_when_asked(
    kafka: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = kafka.new_topic()
    kafka.send(topic, range(10))
    kafka.cut(topic, 6)
    reading = source(kafka, topic, on_loss="skip")
    start = {topic: {"0": 2}}
    end = reading.latest(start, UNLIMITED)
    with caplog.at_level(logging.WARNING, "falkirk.source"):
        assert values(reading, start, end) == ["6", "7", "8", "9"]
    assert f"4 records of {topic}-0 from offset 2 on are gone" in caplog.text
    assert values(reading, start, {topic: {"0": 5}}) == []


def test_a_warning_comes_before_retention_by_time(
    kafka: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = kafka.new_topic(retention_ms=86_400_000)
    now = int(time.time() * 1000)
    for hours in (20, 19, 17, 1):
        kafka.send(topic, [hours], timestamp=now - hours * 3_600_000)
    reading = source(kafka, topic)
    with caplog.at_level(logging.WARNING, "falkirk.source"):
        reading.latest(reading.initial(), UNLIMITED)
    assert f"{topic}-0 is not acknowledged from offset 0 on; 2 records" in caplog.text
    assert "retention time of 24 hours within 6 hours" in caplog.text
    caplog.clear()
    acknowledged = source(kafka, topic)
    acknowledged.commit({topic: {"0": 2}})
    with caplog.at_level(logging.WARNING, "falkirk.source"):
        acknowledged.latest({topic: {"0": 2}}, UNLIMITED)
    assert not caplog.text


def test_a_warning_comes_before_retention_by_size(
    kafka: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = kafka.new_topic()
    kafka.send(topic, range(100))
    reading = source(kafka, topic)
    reading._live["retention"] = Retention(look_seconds=0)
    start = {topic: {"0": 40}}
    with caplog.at_level(logging.WARNING, "falkirk.source"):
        for cut, warned in ((10, False), (20, False), (30, True)):
            reading.latest(start, UNLIMITED)
            assert not caplog.text
            kafka.cut(topic, cut)
            reading.latest(start, UNLIMITED)
            assert bool(caplog.text) is warned
    assert "last cut by 10 records, and 10 are left before these" in caplog.text


def test_a_topic_that_was_made_anew_is_not_continued(kafka: Broker) -> None:
    topic = kafka.new_topic()
    kafka.send(topic, range(3))
    with pytest.raises(PermanentError, match="read up to offset 5 and now ends at 3"):
        source(kafka, topic).latest({topic: {"0": 5}}, UNLIMITED)
    with pytest.raises(PermanentError, match="read up to offset 5 and now is gone"):
        source(kafka, topic).latest({topic: {"1": 5}}, UNLIMITED)


def test_a_topic_that_is_not_there(kafka: Broker) -> None:
    with pytest.raises(ConnectorError, match="'no-such-topic' cannot be used"):
        source(kafka, "no-such-topic").initial()


def test_who_may_not_come_in_is_told_so_without_the_password(kafka: Broker) -> None:
    topic = kafka.new_topic()
    wrong = {**kafka.login, "kafka.sasl.password": PASSWORD + "2"}
    reading = KafkaSource(kafka.secure, topic, options=wrong)
    with pytest.raises(PermanentError, match="Authentication failed") as failed:
        reading.initial()
    assert PASSWORD not in str(failed.value)
    assert failed.value.__suppress_context__
    assert PASSWORD not in repr(reading)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"start": "yesterday"}, "start is 'earliest', 'latest' or offsets"),
        ({"until": "tomorrow"}, "until is 'latest' or offsets"),
        ({"reader": "java"}, "reader is one of spark, python"),
        ({"on_loss": "ignore"}, "on_loss is one of fail, skip"),
        ({"record_bytes": 0}, "at least one byte"),
    ],
)
def test_what_nobody_knows_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConnectorError, match=said):
        KafkaSource("127.0.0.1:1", "topic", **more)


def wait_until(condition: Any) -> None:
    """Waits until something holds."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.05)
