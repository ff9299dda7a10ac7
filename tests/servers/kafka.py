"""A real Kafka broker for the tests: one node that is its own controller, on loopback."""

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import KafkaException
from tests.servers.jars import NoJars, jars
from tests.servers.openssl import openssl
from tests.servers.topics import Topics

from falkirk.runtime.java import find_java_home

START_SECONDS = 90
USER, PASSWORD = "falkirk", "pa'ss\"word\\1"
STORE_PASSWORD = "only-for-tests"
JAVA = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
CLUSTER = "falkirk-tests-clusterA"
"""Sixteen bytes in base64. Drawn at random, one in 64 would begin with a dash, like an option."""
KEYTOOL = "java.base/sun.security.tools.keytool.Main"


class NoBroker(Exception):
    """Why no broker could be started."""


class Broker(Topics):
    """A broker with its data in a folder of its own; it can be stopped and started again.

    ``servers`` takes anybody; ``secure`` wants TLS, by ``certificate``, and ``USER``'s password;
    ``mutual`` wants TLS in both directions: who comes shows the certificate in ``passport``.
    """

    def __init__(self) -> None:
        """Fetches the jars, makes a cluster and starts it."""
        try:
            self.jars = jars("broker")
        except NoJars as error:
            raise NoBroker(f"the jars could not be fetched: {error}") from error
        self.folder = Path(tempfile.mkdtemp(prefix="falkirk-kafka-"))
        self.java = find_java_home() / "bin"
        self.process: subprocess.Popen[bytes] | None = None
        plain, secure, mutual, controller = free_ports(4)
        super().__init__(f"127.0.0.1:{plain}")
        self.secure, self.mutual = f"127.0.0.1:{secure}", f"127.0.0.1:{mutual}"
        try:
            self._make_certificates()
            self._write_properties(controller)
            self._run("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", self._properties)
            self.start()
        except (OSError, subprocess.SubprocessError, NoBroker) as error:
            self.remove()
            printed = getattr(error, "stderr", None) or ""
            raise NoBroker(f"{error} {printed}") from error

    # Its life.

    def start(self) -> None:
        """Starts the broker on the data that it has, and waits until it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command("kafka.Kafka", self._properties), stdout=log, stderr=log
            )
        deadline = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                if self.admin.list_topics(timeout=1).brokers:
                    return
            except KafkaException:
                time.sleep(0.1)
        said = (self.folder / "log").read_text("utf-8", "replace")[-2000:]
        self.stop()
        raise NoBroker(f"it did not start: {said}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends the process; its data stay."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def remove(self) -> None:
        """Ends the process and removes its data."""
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def login(self) -> dict[str, str]:
        """The options for ``secure``."""
        return {
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.sasl.username": USER,
            "kafka.sasl.password": PASSWORD,
            "kafka.ssl.ca.location": str(self.certificate),
        }

    @property
    def shown(self) -> dict[str, str]:
        """The options for ``mutual``."""
        return {
            "kafka.security.protocol": "SSL",
            "kafka.ssl.ca.location": str(self.certificate),
            "kafka.ssl.keystore.type": "PKCS12",
            "kafka.ssl.keystore.location": str(self.passport),
            "kafka.ssl.keystore.password": STORE_PASSWORD,
        }

    def shown_as_pem(self, folder: Path) -> dict[str, str]:
        """The same with the key and the certificate in a file each, as librdkafka has them."""
        given = ["-in", self.passport, "-passin", f"pass:{STORE_PASSWORD}"]
        openssl("pkcs12", *given, "-nocerts", "-nodes", "-out", folder / "key.pem")
        openssl("pkcs12", *given, "-nokeys", "-out", folder / "certificate.pem")
        return {
            "kafka.security.protocol": "SSL",
            "kafka.ssl.ca.location": str(self.certificate),
            "kafka.ssl.certificate.location": str(folder / "certificate.pem"),
            "kafka.ssl.key.location": str(folder / "key.pem"),
        }

    # How it is made.

    @property
    def certificate(self) -> Path:
        """The certificate of the broker."""
        return self.folder / "certificate.pem"

    @property
    def passport(self) -> Path:
        """A key and a certificate that the listener ``mutual`` lets in."""
        return self.folder / "client.p12"

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def _command(self, *words: object) -> list[str]:
        level = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        path = ":".join(map(str, self.jars))
        return [str(self.java / "java"), *JAVA, level, "-cp", path, *map(str, words)]

    def _run(self, *words: object) -> None:
        command = self._command(*words)
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=START_SECONDS)

    def _make_certificates(self) -> None:
        keys = self.folder / "keys.p12"
        self._make_key(keys, "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1")
        self._make_key(self.passport, f"CN={USER}")
        self._keytool(keys, "-exportcert", "-rfc", "-file", str(self.certificate))

    def _make_key(self, store: Path, name: str, *further: str) -> None:
        made = ["-genkeypair", "-keyalg", "EC", "-dname", name, "-validity", "30", *further]
        self._keytool(store, *made, "-storetype", "PKCS12")

    def _keytool(self, store: Path, *words: str) -> None:
        which = ["-alias", "key", "-keystore", str(store), "-storepass", STORE_PASSWORD]
        keytool = [str(self.java / "java"), "-m", KEYTOOL, *words, *which]
        subprocess.run(keytool, check=True, capture_output=True, text=True, timeout=60)

    def _write_properties(self, controller: int) -> None:
        quoted = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        jaas = f'{module} required user_{USER}="{quoted}";'.replace("\\", "\\\\")
        address = f"PLAINTEXT://{self.servers},SECURE://{self.secure},MUTUAL://{self.mutual}"
        properties = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"{address},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": address,
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,MUTUAL:SSL"
            ),
            "listener.name.secure.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.secure.plain.sasl.jaas.config": jaas,
            "ssl.keystore.location": self.folder / "keys.p12",
            "ssl.keystore.password": STORE_PASSWORD,
            "ssl.keystore.type": "PKCS12",
            "listener.name.mutual.ssl.client.auth": "required",
            "listener.name.mutual.ssl.truststore.location": self.passport,
            "listener.name.mutual.ssl.truststore.password": STORE_PASSWORD,
            "listener.name.mutual.ssl.truststore.type": "PKCS12",
            "log.dirs": self.folder / "data",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "auto.create.topics.enable": "false",
            "log.cleaner.dedupe.buffer.size": 8_000_000,
            "num.network.threads": 1,
            "num.io.threads": 2,
        }
        text = "".join(f"{name}={value}\n" for name, value in properties.items())
        self._properties.write_text(text, "utf-8")


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody uses."""
    with ExitStack() as sockets:
        opened = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for each in opened:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in opened]
