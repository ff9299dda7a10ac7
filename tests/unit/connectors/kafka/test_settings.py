"""Options for two clients: each gets what it knows, and nobody shows a secret."""

from pathlib import Path

import pytest

from falkirk.connectors.kafka import KafkaSink, KafkaSource
from falkirk.connectors.kafka.settings import settings
from falkirk.core.errors import ConfigurationError

PASSWORD = 'se"cr\\et'
JAAS = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required"
    ' username="me" password="se\\"cr\\\\et";'
)
SCRAM = {"kafka.security.protocol": "SASL_SSL", "kafka.sasl.mechanism": "SCRAM-SHA-512"}


def test_a_name_and_a_password_become_javas_login_module() -> None:
    found = settings(
        "host:1", {**SCRAM, "kafka.sasl.username": "me", "kafka.sasl.password": PASSWORD}
    )
    assert found.java["kafka.sasl.jaas.config"] == JAAS
    assert "kafka.sasl.password" not in found.java
    assert found.java["kafka.bootstrap.servers"] == found.native["bootstrap.servers"] == "host:1"
    assert found.java["kafka.sasl.mechanism"] == found.native["sasl.mechanism"] == "SCRAM-SHA-512"


def test_javas_login_module_becomes_a_name_and_a_password() -> None:
    found = settings("host:1", {**SCRAM, "kafka.sasl.jaas.config": JAAS})
    assert found.native["sasl.username"] == "me"
    assert found.native["sasl.password"] == PASSWORD
    assert found.java["kafka.sasl.jaas.config"] == JAAS


def test_a_password_needs_a_mechanism_that_takes_it() -> None:
    with pytest.raises(ConfigurationError, match="PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"):
        settings("host:1", {"kafka.sasl.username": "me", "kafka.sasl.password": PASSWORD})


def test_a_certificate_of_an_authority_goes_to_both() -> None:
    found = settings("host:1", {"kafka.ssl.ca.location": "ca.pem"})
    assert found.native["ssl.ca.location"] == found.java["kafka.ssl.truststore.location"]
    assert found.java["kafka.ssl.truststore.type"] == "PEM"
    back = settings(
        "host:1",
        {"kafka.ssl.truststore.location": "ca.pem", "kafka.ssl.truststore.type": "PEM"},
    )
    assert back.native["ssl.ca.location"] == "ca.pem"
    text = settings("host:1", {"kafka.ssl.truststore.certificates": "---"})
    assert text.native["ssl.ca.pem"] == "---"


def test_a_key_of_ones_own_goes_to_both(tmp_path: Path) -> None:
    for name in ("certificate", "key"):
        (tmp_path / name).write_text(f"the {name}")
    found = settings(
        "host:1",
        {
            "kafka.ssl.certificate.location": str(tmp_path / "certificate"),
            "kafka.ssl.key.location": str(tmp_path / "key"),
        },
    )
    assert found.java["kafka.ssl.keystore.certificate.chain"] == "the certificate"
    assert found.java["kafka.ssl.keystore.key"] == "the key"
    assert found.native["ssl.key.location"] == str(tmp_path / "key")
    assert "the key" in found.secrets
    store = {"kafka.ssl.keystore.type": "PKCS12", "kafka.ssl.keystore.location": "keys.p12"}
    kept = settings("host:1", {**store, "kafka.ssl.keystore.password": PASSWORD})
    assert kept.native["ssl.keystore.location"] == "keys.p12"
    assert kept.native["ssl.keystore.password"] == PASSWORD
    pem = {"kafka.ssl.keystore.type": "PEM", "kafka.ssl.keystore.location": "both.pem"}
    assert settings("host:1", pem).native["ssl.key.location"] == "both.pem"


@pytest.mark.parametrize("name", ["truststore", "keystore"])
def test_stores_that_only_java_can_read_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="this process cannot read"):
        settings("host:1", {f"kafka.ssl.{name}.location": "store.jks"})


def test_every_client_gets_its_own() -> None:
    found = settings(
        "host:1",
        {
            "minPartitions": "8",
            "kafka.fetch.max.bytes": "9",
            "kafka.some.java.name": "x",
            "kafka.ssl.endpoint.identification.algorithm": "",
        },
        {"socket.nagle.disable": "true", "fetch.max.bytes": "7"},
    )
    assert found.java["minPartitions"] == "8"
    assert found.java["kafka.some.java.name"] == "x"
    assert found.java["kafka.fetch.max.bytes"] == "9"
    assert found.native["fetch.max.bytes"] == "7"
    assert found.native["socket.nagle.disable"] == "true"
    assert found.native["ssl.endpoint.identification.algorithm"] == "none"
    assert "some.java.name" not in found.native
    assert "minPartitions" not in found.native


def test_secrets_are_not_shown() -> None:
    options = {**SCRAM, "kafka.sasl.jaas.config": JAAS}
    client = {"ssl.key.pem": "a-key"}
    found = settings("host:1", options, client)
    shown = [
        repr(found),
        repr(KafkaSource("host:1", "t", options=options, client=client)),
        repr(KafkaSink("host:1", "t", options=options, client=client)),
        found.redacted(f"failed with {PASSWORD}, {JAAS} and a-key"),
    ]
    for text in shown:
        assert PASSWORD not in text
        assert "cr\\" not in text
        assert "a-key" not in text
    assert shown[-1] == "failed with ***, *** and ***"
