"""Servers that several suites share, one of each a session."""

from collections.abc import Iterator

import pytest
from tests.servers.kafka import Broker, NoBroker
from tests.servers.lacking import lacking
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
def kafka() -> Iterator[Broker]:
    """A Kafka broker; where there can be none its tests are skipped, but never in CI."""
    try:
        broker = Broker()
    except NoBroker as error:
        lacking("a Kafka broker", error)
    yield broker
    broker.remove()
