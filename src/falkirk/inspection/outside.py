"""Whether the systems behind the sources and sinks of a flow can be reached.

A connection is opened and closed, and nothing is said: so it changes nothing, and it does not tell
whether they would let us in.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from falkirk.connectors import (
    KafkaSink,
    KafkaSource,
    QueueSource,
    TableSink,
    TableSinks,
    TableSource,
)
from falkirk.dataflow.blueprint import Blueprint
from falkirk.inspection.diagnosis import FAIL, OK, Diagnosis
from falkirk.runtime.masters import Place
from falkirk.runtime.reaching import trouble
from falkirk.store.redaction import read, redacted

KAFKA_PORT = 9092
DATABASE_PORTS = {"postgresql": 5432, "mysql": 3306, "mariadb": 3306}
"""Where a server listens if its address does not say."""

THREADS_MAX = 16

System = tuple[str, tuple[Place, ...]]
"""What is called how, and the places of which one must answer."""


def outside(blueprint: Blueprint) -> Iterator[Diagnosis]:
    """One diagnosis for each source and sink whose system has an address."""
    ends = {
        **{f"source {name}": node.operator for name, node in blueprint.sources.items()},
        **{f"sink {name}": node.operator for name, node in blueprint.sinks.items()},
    }
    systems = {what: found for what, end in ends.items() if (found := system_of(end)) is not None}
    troubles = looked_at(systems)
    for what, system in systems.items():
        name, because = system[0], troubles[system]
        if because:
            advice = "see whether it is up, and whether the address is right"
            yield Diagnosis(what, FAIL, f"{name} does not answer: {because}", advice)
        else:
            yield Diagnosis(what, OK, f"{name} takes connections")


def looked_at(systems: Mapping[str, System]) -> dict[System, str]:
    """What is wrong with each system, or nothing; several are tried at a time."""
    distinct = list(dict.fromkeys(systems.values()))
    with ThreadPoolExecutor(THREADS_MAX) as pool:
        return dict(zip(distinct, pool.map(lambda each: trouble(each[1]), distinct), strict=True))


def system_of(end: Any) -> System | None:
    """What a source or a sink talks to; None if it has no address, or one that we do not know."""
    if isinstance(end, TableSinks):
        end = next(iter(end.tables.values()))
    if isinstance(end, KafkaSource | KafkaSink):
        name, places = f"Kafka at {end.servers}", kafka_places(end.servers)
    elif isinstance(end, TableSink | TableSource | QueueSource):
        name, places = redacted(end.url), database_places(end.url)
    else:
        return None
    return (name, places) if places else None


def kafka_places(servers: str) -> tuple[Place, ...]:
    """The brokers of a list, each with or without a protocol.

    >>> kafka_places("one:9093, SSL://two,[::1]:9094")
    (('one', 9093), ('two', 9092), ('::1', 9094))
    """
    found = []
    for each in filter(None, map(str.strip, servers.split(","))):
        try:
            parts = urlsplit(f"//{each.rpartition('://')[2]}")
            if parts.hostname:
                found.append((parts.hostname, parts.port or KAFKA_PORT))
        except ValueError:
            continue
    return tuple(found)


def database_places(address: str) -> tuple[Place, ...]:
    """The server of a database; none if it is a file, a socket, or a kind that we do not know.

    >>> database_places("postgresql://me:hush@db/shop"), database_places("sqlite:///shop.db")
    ((('db', 5432),), ())
    >>> database_places("postgresql:///shop?host=/run/postgresql")
    ()
    """
    url = read(address)
    port = None if url is None else url.port or DATABASE_PORTS.get(url.get_backend_name())
    return ((url.host, port),) if url is not None and url.host and port else ()
