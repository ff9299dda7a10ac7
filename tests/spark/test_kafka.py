"""Kafka and Spark: three ways to read the same rows, and flows from topic to topic."""

import json
import logging
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession
from tests.servers.jars import NoJars, jars
from tests.servers.kafka import STORE_PASSWORD, Broker
from tests.servers.lacking import lacking

import falkirk as fk
from falkirk.connectors.kafka import KafkaSink, KafkaSource, text
from falkirk.connectors.kafka import json as json_of
from falkirk.connectors.kafka.columns import arrow_schema
from falkirk.dataflow.connecting import UNLIMITED

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def connector() -> None:
    """Spark's Kafka connector; where it is missing its tests are skipped, but never in CI."""
    try:
        jars("spark")
    except NoJars as error:
        lacking("Spark's Kafka connector", error)


WAYS: dict[str, dict[str, Any]] = {
    "spark": {"reader": "spark"},
    "python": {"reader": "python"},
    "driver": {"driver_rows_max": 100},
}


@pytest.mark.usefixtures("connector")
def test_all_readers_read_the_same_rows(spark: SparkSession, kafka: Broker, tmp_path: Path) -> None:
    """Each of them comes in by another door: with a password, or with a certificate."""
    doors = {
        "spark": (kafka.secure, kafka.login),
        "python": (kafka.mutual, kafka.shown),
        "driver": (kafka.mutual, kafka.shown_as_pem(tmp_path)),
    }
    topic = kafka.new_topic(3, retention_ms=-1)
    kafka.send(topic, ["a", None, "c"], key=b"k", headers={"one": b"1", "none": None})
    kafka.send(topic, ["d", "e"], 1, transaction="commit", timestamp=1_700_000_000_123)
    kafka.send(topic, ["never"], 1, transaction="abort")
    kafka.send(topic, range(5), 2)
    start = {topic: {"0": 1, "1": 0, "2": 2}}
    tables: dict[str, Any] = {}
    for name, way in WAYS.items():
        servers, options = doors[name]
        source = KafkaSource(servers, topic, options=options, headers=True, **way)
        data = source.read(spark, start, source.latest(start, UNLIMITED))
        table = data if name == "driver" else data.toArrow()
        tables[name] = table.sort_by([("partition", "ascending"), ("offset", "ascending")])
        source.close()
    assert tables["driver"].column("value").to_pylist() == [
        None,
        b"c",
        b"d",
        b"e",
        b"2",
        b"3",
        b"4",
    ]
    for name in ("python", "driver"):
        assert tables[name].schema == tables["spark"].schema
        assert tables[name].to_pylist() == tables["spark"].to_pylist()


@pytest.mark.usefixtures("connector")
@pytest.mark.parametrize("kind", ["PKCS12", "PEM"])
def test_spark_shows_a_certificate_and_no_secret(
    spark: SparkSession,
    kafka: Broker,
    tmp_path: Path,
    kind: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """From topic to topic; the plan, the logs and the store know neither password nor key."""
    options = kafka.shown if kind == "PKCS12" else kafka.shown_as_pem(tmp_path)
    into, out = kafka.new_topic(), kafka.new_topic()
    kafka.send(into, ["a", "b"])
    flow = fk.Dataflow("certified")
    source = KafkaSource(kafka.mutual, into, options=options, until="latest", group=into)
    read = flow.read(source, name="lines").select(text())
    read.write(KafkaSink(kafka.mutual, out, value="value", options=options), name="out")
    with caplog.at_level(logging.DEBUG):
        fk.run(flow, store=tmp_path / "store", spark=spark)
        frame = source.read(spark, source.initial(), {into: {"0": 2}})
        logging.getLogger("falkirk.test").info("%s %s", flow.explain(), flow.nodes)
    assert sorted(kafka.values(out)) == ["a", "b"]
    shown = caplog.text + frame._jdf.queryExecution().toString()
    with sqlite3.connect(tmp_path / "store" / "metadata.sqlite") as metadata:
        shown += "\n".join(metadata.iterdump())
    metadata.close()
    secrets = [STORE_PASSWORD]
    if kind == "PEM":
        secrets = (tmp_path / "key.pem").read_text().split("-----")[2].split()
    assert into in shown
    assert not [secret for secret in secrets if secret in shown]


@pytest.mark.usefixtures("connector")
def test_all_readers_have_the_same_columns_without_headers(
    spark: SparkSession, kafka: Broker
) -> None:
    topic = kafka.new_topic()
    kafka.send(topic, ["a"])
    frames = [
        KafkaSource(kafka.servers, topic, reader=reader).read(spark, {}, {topic: {"0": 1}})
        for reader in ("spark", "python")
    ]
    assert frames[0].schema == frames[1].schema
    assert frames[0].columns == arrow_schema().names


@pytest.mark.usefixtures("connector")
@pytest.mark.parametrize("driver_rows_max", [0, 1000], ids=["spark", "driver"])
def test_from_topic_to_topic(
    spark: SparkSession, kafka: Broker, tmp_path: Path, driver_rows_max: int
) -> None:
    into, out, group = kafka.new_topic(2), kafka.new_topic(2), f"group-{uuid4().hex}"

    def words() -> fk.Dataflow:
        flow = fk.Dataflow("words")
        source = KafkaSource(
            kafka.servers, into, group=group, until="latest", driver_rows_max=driver_rows_max
        )
        lines = flow.read(source, name="lines", limit=6).select(
            text("key", "place"), json_of("word STRING, n BIGINT")
        )
        counts = lines.select("place", "value.*").group_by("word").count(policy=fk.lazy())
        counts.write(KafkaSink(kafka.servers, out, key="word"), name="counts")
        return flow

    def send(*words: str) -> None:
        for number, word in enumerate(words):
            kafka.send(into, [json.dumps({"word": word, "n": number})], number % 2, key=b"here")

    def shown() -> dict[str, int]:
        found: dict[str, int] = {}
        for message in kafka.records(out):
            row = json.loads(message.value())
            assert message.key().decode() == row["word"]
            found[row["word"]] = max(row["count"], found.get(row["word"], 0))
        return found

    send(*"abcab", *"aabc")
    fk.run(words(), store=tmp_path / "store", spark=spark)
    assert shown() == {"a": 4, "b": 3, "c": 2}
    assert sum(kafka.committed(group, into, 2)) == 9
    before = len(kafka.records(out))
    fk.run(words(), store=tmp_path / "store", spark=spark)
    assert len(kafka.records(out)) == before, "nothing new, so nothing is written"
    send("c", "c")
    fk.run(words(), store=tmp_path / "store", spark=spark)
    assert shown() == {"a": 4, "b": 3, "c": 4}
    assert sum(kafka.committed(group, into, 2)) == 11


@pytest.fixture
def stopping(kafka: Broker) -> Iterator[Any]:
    """A function that kills the broker, and starts it again, once a topic has some records."""
    threads, problems = [], []

    def stop(topic: str, records: int) -> None:
        def wait() -> None:
            try:
                deadline = time.monotonic() + 60
                while len(kafka.records(topic)) < records:
                    assert time.monotonic() < deadline, f"{topic} never got {records} records"
                kafka.stop(signal.SIGKILL)
                time.sleep(1)
                kafka.start()
            except BaseException as error:
                problems.append(error)

        threads.append(threading.Thread(target=wait))
        threads[-1].start()

    yield stop
    for thread in threads:
        thread.join()
    assert not problems


def test_a_broker_that_is_restarted_loses_and_repeats_nothing(
    spark: SparkSession, kafka: Broker, tmp_path: Path, stopping: Any
) -> None:
    into, out, group = kafka.new_topic(2), kafka.new_topic(), f"group-{uuid4().hex}"
    for partition in range(2):
        kafka.send(into, range(partition, 400, 2), partition)
    flow = fk.Dataflow("restarts")
    source = KafkaSource(kafka.servers, into, group=group, until="latest", driver_rows_max=100)
    rows = flow.read(source, name="lines", limit=10).select(text())
    rows.write(KafkaSink(kafka.servers, out, value="value"), name="out")
    stopping(out, 60)
    fk.run(flow, store=tmp_path / "store", spark=spark)
    found = Counter(kafka.values(out))
    assert found == Counter(str(n) for n in range(400))
    assert kafka.committed(group, into, 2) == [200, 200]
