"""Servers that several suites share, one of each a session."""

import socket
from collections.abc import Iterator

import pytest
from tests.servers.hdfs import Hdfs, NoHdfs
from tests.servers.kafka import Broker, NoBroker
from tests.servers.lacking import lacking
from tests.servers.mariadb import Mariadb, NoMariadb
from tests.servers.postgres import NoServer, Server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server; where there is none its tests are skipped, but never in CI."""
    try:
        server = Server()
    except NoServer as error:
        lacking("a PostgreSQL server", error)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Mariadb]:
    """A MariaDB server; where there is none its tests are skipped, but never in CI."""
    try:
        server = Mariadb()
    except NoMariadb as error:
        lacking("a MariaDB server", error)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def kafka() -> Iterator[Broker]:
    """A Kafka broker; where there can be none its tests are skipped, but never in CI."""
    try:
        broker = Broker()
    except NoBroker as error:
        lacking("a Kafka broker", error)
    yield broker
    broker.remove()


@pytest.fixture(scope="session")
def hdfs() -> Iterator[Hdfs]:
    """An HDFS; where there can be none its tests are skipped, but never in CI."""
    try:
        servers = Hdfs()
    except NoHdfs as error:
        lacking("an HDFS", error)
    yield servers
    servers.remove()


@pytest.fixture
def listening() -> Iterator[int]:
    """A port at which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def dead() -> int:
    """A port at which nobody does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port
