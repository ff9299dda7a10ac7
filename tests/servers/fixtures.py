"""Servers that several suites share, one of each a session."""

import os
from collections.abc import Iterator

import pytest
from tests.servers.kafka import Broker, NoBroker
from tests.servers.postgres import NoServer, Server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server; where there is none its tests are skipped, but never in CI."""
    try:
        server = Server()
    except NoServer as error:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"CI must test PostgreSQL: {error}")
        pytest.skip(f"no PostgreSQL server can be started here: {error}")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def kafka() -> Iterator[Broker]:
    """A Kafka broker; where there can be none its tests are skipped, but never in CI."""
    try:
        broker = Broker()
    except NoBroker as error:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"CI must test Kafka: {error}")
        pytest.skip(f"no Kafka broker can be started here: {error}")
    yield broker
    broker.remove()
