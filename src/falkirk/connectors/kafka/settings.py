"""Settings for two clients: Spark's, which is Java's, and the one of this process, librdkafka.

Users write ``kafka.`` and a name, as for Spark. Java's names and librdkafka's are both understood,
and each client gets the ones that it knows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from falkirk.core.errors import ConfigurationError

PREFIX = "kafka."

SAME = frozenset(
    {
        "acks",
        "batch.size",
        "client.id",
        "client.rack",
        "compression.type",
        "connections.max.idle.ms",
        "delivery.timeout.ms",
        "enable.idempotence",
        "fetch.max.bytes",
        "fetch.min.bytes",
        "isolation.level",
        "linger.ms",
        "max.in.flight.requests.per.connection",
        "max.partition.fetch.bytes",
        "metadata.max.age.ms",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retries",
        "retry.backoff.ms",
        "sasl.kerberos.kinit.cmd",
        "sasl.kerberos.service.name",
        "sasl.mechanism",
        "security.protocol",
        "ssl.cipher.suites",
        "ssl.key.password",
        "transaction.timeout.ms",
    }
)
"""Names that mean the same to both."""

NATIVE = (
    *("sasl.username", "sasl.password", "ssl.ca.", "ssl.certificate.", "ssl.key.location"),
    *("ssl.key.pem", "enable.ssl.certificate.verification"),
)
"""What only librdkafka knows; Java is told the same in its own way."""

SECRET = re.compile(r"password|jaas|secret|token|\.pem$|keystore\.key|oauthbearer\.config")
"""Names whose values are never shown."""

CREDENTIALS = re.compile(r'(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')

MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How to reach a cluster. ``java`` is for Spark, with the prefix; ``native`` for librdkafka."""

    servers: str
    java: Mapping[str, str] = field(repr=False)
    native: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    def redacted(self, text: str) -> str:
        """The text without the secrets that are in it."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def settings(
    servers: str, options: Mapping[str, str], client: Mapping[str, str] | None = None
) -> Settings:
    """What both clients are told; ``client`` goes to librdkafka as it is, before all else."""
    given = {k.removeprefix(PREFIX): v for k, v in options.items() if k.startswith(PREFIX)}
    native = {name: value for name, value in given.items() if name in SAME}
    native |= native_login(given) | native_trust(given) | dict(client or {})
    java = {name: value for name, value in given.items() if not name.startswith(NATIVE)}
    java |= java_login(given) | java_trust(given)
    spark = {name: value for name, value in options.items() if not name.startswith(PREFIX)}
    secrets = [v for part in (given, native, java) for k, v in part.items() if SECRET.search(k)]
    return Settings(
        servers,
        {**spark, f"{PREFIX}bootstrap.servers": servers}
        | {f"{PREFIX}{name}": value for name, value in java.items()},
        {"bootstrap.servers": servers, **native},
        tuple(sorted({secret for secret in secrets if secret}, key=len, reverse=True)),
    )


def native_login(given: Mapping[str, str]) -> dict[str, str]:
    """Name and password, out of Java's configuration of a login module if need be."""
    found = dict(CREDENTIALS.findall(given.get("sasl.jaas.config", "")))
    login = {f"sasl.{name}": re.sub(r"\\(.)", r"\1", value) for name, value in found.items()}
    return login | {k: v for k, v in given.items() if k in ("sasl.username", "sasl.password")}


def java_login(given: Mapping[str, str]) -> dict[str, str]:
    """A login module with name and password."""
    if "sasl.username" not in given or "sasl.jaas.config" in given:
        return {}
    mechanism = given.get("sasl.mechanism", "")
    if mechanism not in MODULES:
        raise ConfigurationError(
            f"kafka.sasl.username goes with kafka.sasl.mechanism {', '.join(MODULES)}, not with"
            f" {mechanism!r}: set it, or write kafka.sasl.jaas.config for another mechanism"
        )
    pairs = {"username": given["sasl.username"], "password": given.get("sasl.password", "")}
    quoted = {name: re.sub(r'(["\\])', r"\\\1", value) for name, value in pairs.items()}
    words = " ".join(f'{name}="{value}"' for name, value in quoted.items())
    return {"sasl.jaas.config": f"{MODULES[mechanism]} required {words};"}


def native_trust(given: Mapping[str, str]) -> dict[str, str]:
    """Whom to trust and who we are, out of Java's stores if need be."""
    found = {k: v for k, v in given.items() if k.startswith(NATIVE) and not k.startswith("sasl.")}
    if "ssl.truststore.certificates" in given:
        found["ssl.ca.pem"] = given["ssl.truststore.certificates"]
    if "ssl.truststore.location" in given and not {"ssl.ca.location", "ssl.ca.pem"} & set(found):
        if given.get("ssl.truststore.type", "JKS").upper() != "PEM":
            raise ConfigurationError(
                "kafka.ssl.truststore.location is a store of Java, which this process cannot read:"
                " export its certificates as PEM and set kafka.ssl.ca.location, which does for both"
            )
        found["ssl.ca.location"] = given["ssl.truststore.location"]
    if given.get("ssl.endpoint.identification.algorithm") is not None:
        chosen = given["ssl.endpoint.identification.algorithm"]
        found["ssl.endpoint.identification.algorithm"] = chosen or "none"
    kind = given.get("ssl.keystore.type", "JKS").upper()
    if "ssl.keystore.certificate.chain" in given:
        found["ssl.certificate.pem"] = given["ssl.keystore.certificate.chain"]
        found["ssl.key.pem"] = given.get("ssl.keystore.key", "")
    elif "ssl.keystore.location" in given and kind == "PEM":
        place = given["ssl.keystore.location"]
        found |= {"ssl.certificate.location": place, "ssl.key.location": place}
    elif "ssl.keystore.location" in given and kind == "PKCS12":
        found["ssl.keystore.location"] = given["ssl.keystore.location"]
        found["ssl.keystore.password"] = given.get("ssl.keystore.password", "")
    elif "ssl.keystore.location" in given:
        raise ConfigurationError(
            f"kafka.ssl.keystore.type is {kind}, which this process cannot read: give the key as"
            " PKCS12 or PEM, or set kafka.ssl.certificate.location and kafka.ssl.key.location"
        )
    return found


def java_trust(given: Mapping[str, str]) -> dict[str, str]:
    """The same for Java; files of a certificate and of a key are handed over as text."""
    found = {}
    if "ssl.ca.location" in given and "ssl.truststore.location" not in given:
        found["ssl.truststore.type"] = "PEM"
        found["ssl.truststore.location"] = given["ssl.ca.location"]
    if "ssl.ca.pem" in given:
        found["ssl.truststore.type"] = "PEM"
        found["ssl.truststore.certificates"] = given["ssl.ca.pem"]
    if "ssl.certificate.location" in given and "ssl.key.location" in given:
        found["ssl.keystore.type"] = "PEM"
        chain = Path(given["ssl.certificate.location"]).read_text("utf-8")
        found["ssl.keystore.certificate.chain"] = chain
        found["ssl.keystore.key"] = Path(given["ssl.key.location"]).read_text("utf-8")
    return found
