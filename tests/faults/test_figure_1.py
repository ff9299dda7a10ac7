"""The application of Figure 1 is broken and killed, and nobody outside can tell.

With FALKIRK_KILLS_ALL=1 it is also run on Kafka and PostgreSQL, and without each rule that can be
left out: the verdict must notice that.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.servers.kafka import Broker
from tests.servers.postgres import Server

from falkirk.demo.figure_1.closing import closing
from falkirk.demo.figure_1.runner import Demonstration, Settings, default_database
from falkirk.demo.figure_1.sabotage import RULES

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.timeout(900)]

long_only = pytest.mark.skipif(
    not os.environ.get("FALKIRK_KILLS_ALL"), reason="make faults-long runs it"
)


class Unwatched:
    """Nobody looks."""

    def show(self, story: Any, clients: Any, phase: str) -> None:
        """Nothing is shown."""


def demonstration(
    folder: Path, rows: int = 1_000, database: str = "", **settings: Any
) -> Demonstration:
    given = Settings(
        folder,
        database or default_database(folder),
        master="local[2]",
        rows_per_epoch=rows,
        epoch_seconds=2.0,
        failures=("region", "process"),
        **{"phase_seconds": 1.0, **settings},
    )
    return Demonstration(given, Unwatched())


def test_every_answer_and_every_row_is_as_without_failures(tmp_path: Path) -> None:
    shown = demonstration(tmp_path)
    shown.run()
    assert shown.verdict() == []
    region, process = shown.story.failures
    assert region.rollback is not None
    assert {"with-rank", "once", "statistics"} <= set(region.rollback["kept"])
    assert process.rollback is not None
    assert process.rollback["kept"] == []
    text = "\n".join(closing(shown.story, shown.clients.queries))
    assert "kept all their work" in text
    assert any(query.attempts > 1 for query in shown.clients.queries), "some had to ask again"


@long_only
def test_the_same_with_records_out_of_kafka_and_statistics_in_postgres(
    tmp_path: Path, kafka: Broker, postgres: Server
) -> None:
    shown = demonstration(tmp_path, database=postgres.new_database(), kafka=kafka.servers)
    shown.run()
    assert shown.verdict() == []
    assert all(failure.rollback is not None for failure in shown.story.failures)
    assert shown.topic is not None
    assert not kafka.has(shown.topic.name), "nothing is left behind"


@long_only
@pytest.mark.parametrize("rule", RULES)
def test_sabotage_is_noticed(tmp_path: Path, rule: str) -> None:
    # An epoch has about 24 friendships then, and without them one user of eight is told a wrong
    # circle. With fewer, or with so many that circles are full, hardly anybody could notice; nor
    # could a handful of queries.
    shown = demonstration(tmp_path, rows=4_000, clients=16, phase_seconds=6.0, sabotage=rule)
    shown.run()
    assert shown.verdict() != []
