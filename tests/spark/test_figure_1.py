"""The application of Figure 1 answers from its newest versions, and what it told it has stored."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.servers.kafka import Broker

import falkirk as fk
from falkirk.core.policy import Regime
from falkirk.demo.figure_1.clients import Clients, ask
from falkirk.demo.figure_1.flow import decoded, figure_1
from falkirk.demo.figure_1.records import Records, records
from falkirk.demo.figure_1.runner import default_database, free_port
from falkirk.demo.figure_1.topic import Produced, WholeEpochs
from falkirk.demo.figure_1.verdict import found_wrong, tables_of, write_queries
from falkirk.testing.script import Remembered

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

ROWS = 1_000


class Running:
    """The application, on a thread."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.port, self.database = free_port(), default_database(folder)
        self.server = fk.HttpRequests("user BIGINT", path="/query", port=self.port)
        self.source = Records(ROWS, 0.2)
        self.flow = figure_1(self.source, self.server, self.database)
        self.failed: list[BaseException] = []
        self.thread = Thread(target=self.run, args=(spark, folder / "store"))

    def run(self, spark: SparkSession, store: Path) -> None:
        try:
            fk.run(self.flow, store, spark)
        except BaseException as error:
            self.failed.append(error)

    def stop(self) -> None:
        self.source.stop()
        self.server.stop()
        self.thread.join(300)
        assert not self.thread.is_alive()
        assert self.failed == []


@pytest.fixture(scope="module")
def running(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    application = Running(spark, tmp_path_factory.mktemp("figure-1"))
    application.thread.start()
    application.server.wait(120)
    yield application
    if application.thread.is_alive():
        application.stop()


def test_it_has_the_four_regimes_of_the_figure() -> None:
    server = fk.HttpRequests("user BIGINT", path="/query")
    blueprint = figure_1(Records(), server, "sqlite://").build()
    regimes = {p: node.policy.regime for p, node in blueprint.nodes.items()}
    assert {p for p, regime in regimes.items() if regime is Regime.BATCH} >= {"window", "ranks"}
    assert {regimes["views"], regimes["friendships"]} == {Regime.EPHEMERAL}
    assert {regimes["known"], regimes["circles"]} == {Regime.LAZY}
    assert {regimes["once"], regimes["asked"]} == {Regime.EAGER}


def test_answers_and_rows_are_those_of_the_records(
    running: Running, spark: SparkSession, tmp_path: Path
) -> None:
    clients = Clients(running.port, count=2, pause=0.05)
    clients.start()
    while not enough(clients):
        clients._stopping.wait(0.2)
    clients.stop()
    first = clients.queries[0]
    assert ask(running.port, first.key, first.user) == first.answer, "the same key, the same answer"
    running.stop()
    path = tmp_path / "queries.json"
    write_queries(path, clients.queries, running.database, ROWS)
    assert found_wrong(path, spark) == []
    queries, users = tables_of(running.database)
    assert len(queries) == len(clients.queries)
    assert sum(row["queries"] for row in users) == len(queries)
    clients.queries[-1].answer = {**(clients.queries[-1].answer or {}), "rank": -5}
    write_queries(path, clients.queries, running.database, ROWS)
    assert len(found_wrong(path, spark)) == 2, "a wrong answer, and a row that differs"


class Two(WholeEpochs):
    """The first two epochs of a topic."""

    def finished(self, position: Any) -> bool:
        return bool(sum(position[self.topic.topics].values()) >= 2 * self.rows)


def test_records_out_of_kafka_are_those_that_are_made_up(
    spark: SparkSession, tmp_path: Path, kafka: Broker
) -> None:
    produced = Produced(kafka.servers, 50, 0.2)
    flow, sink = fk.Dataflow("kafka-records"), Remembered()
    try:
        produced.start()
        source = Two.of(kafka.servers, produced.name, 50)
        decoded(flow.read(source, name="records")).write(sink, name="out")
        fk.run(flow, tmp_path, spark)
    finally:
        produced.close()
    assert not kafka.has(produced.name)
    for epoch in range(2):
        made_up = records(spark, 50 * epoch, 50 * (epoch + 1)).toArrow().to_pylist()
        assert sink.times[(epoch,)] == sorted(made_up, key=repr)


def enough(clients: Clients) -> bool:
    """Whether answers have come from a few versions of both computations."""
    answers = [query.answer for query in list(clients.queries) if query.answer]
    seen = [
        {a[name] for a in answers} - {None, -1} for name in ("ranks_version", "circles_version")
    ]
    return len(seen[0]) >= 2 and len(seen[1]) >= 3
