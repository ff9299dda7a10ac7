"""A broker that wants to see a certificate, and clients that have one or have none."""

from pathlib import Path

import pytest
from tests.servers.kafka import STORE_PASSWORD, Broker

from falkirk.connectors.kafka import KafkaSink, KafkaSource
from falkirk.core.errors import OutageError, PermanentError
from falkirk.dataflow.connecting import UNLIMITED
from falkirk.testing.contracts.sinks import some

pytestmark = pytest.mark.slow


def reading(kafka: Broker, topic: str, options: dict[str, str]) -> KafkaSource:
    """A source that reads on the driver."""
    return KafkaSource(kafka.mutual, topic, options=options, driver_rows_max=100)


@pytest.mark.parametrize("kind", ["PKCS12", "PEM"])
def test_who_shows_a_certificate_reads_and_writes(kafka: Broker, tmp_path: Path, kind: str) -> None:
    options = kafka.shown if kind == "PKCS12" else kafka.shown_as_pem(tmp_path)
    topic = kafka.new_topic()
    sink = KafkaSink(kafka.mutual, topic, value="v", options=options)
    sink.write("out", (0,), some(1, 2))
    sink.close()
    source = reading(kafka, topic, options)
    rows = source.read(None, source.initial(), source.latest(source.initial(), UNLIMITED))
    source.close()
    assert rows.column("value").to_pylist() == [b"row 1", b"row 2"]


def told(kafka: Broker, options: dict[str, str]) -> str:
    """What a source says, and a sink, that may not come in, or do not want to."""
    topic = kafka.new_topic()
    source = reading(kafka, topic, options)
    with pytest.raises(PermanentError) as read:
        source.initial()
    source.close()
    sink = KafkaSink(kafka.mutual, topic, options=options)
    with pytest.raises(PermanentError) as written:
        sink.write("out", (0,), some(1))
    sink.close()
    for failed in (read, written):
        assert STORE_PASSWORD not in str(failed.value)
    assert "Mend the settings" in str(read.value)
    return str(written.value)


def test_who_shows_none_is_told_so_at_once(kafka: Broker) -> None:
    without = {name: v for name, v in kafka.shown.items() if "keystore" not in name}
    assert "SSL alert number" in told(kafka, without)


def test_a_broker_that_nobody_vouches_for_is_not_talked_to(kafka: Broker) -> None:
    trusting = {name: v for name, v in kafka.shown.items() if "ssl.ca" not in name}
    assert "verify that ssl.ca.location is correctly configured" in told(kafka, trusting)


def test_why_a_broker_cannot_be_reached_is_told(kafka: Broker) -> None:
    hasty = {"socket.timeout.ms": "500"}
    source = KafkaSource(kafka.servers, "topic", options=kafka.shown, client=hasty)
    with pytest.raises(OutageError, match="Does the broker take TLS"):
        source.initial()
    source.close()
