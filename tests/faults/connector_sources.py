"""Sources by name: what fills one before the first start, what makes it, what is wrong at the end.

A source gives ``EPOCHS`` epochs with the numbers ``value`` from 0 on, ``ROWS`` of them each, and no
others, however often it is started.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq
from tests.faults.connector_python import Ledger, NumbersOfPython, unacknowledged
from tests.faults.connector_world import EPOCHS, ROWS, World, topic, values
from tests.servers.topics import Topics

import falkirk as fk


@dataclass(frozen=True)
class SourcePart:
    """How a source is filled and made, and what is wrong with it when all is acknowledged."""

    fill: Callable[[World], None]
    make: Callable[[World], Any]
    limit: Any = None
    left: Callable[[World], list[Any]] = lambda world: []


def fill_files(world: World) -> None:
    """One file an epoch, with a line in it that is no number."""
    folder = world.folder / "in"
    folder.mkdir(parents=True)
    for epoch in range(EPOCHS):
        lines = [*map(str, values(epoch)), f"no number {epoch}"]
        (folder / f"{epoch}.csv").write_text("".join(f"{line}\n" for line in lines))


def files(world: World) -> Any:
    """The files, in the order of their names."""
    dead = fk.DeadLetters(world.folder / "dead")
    return fk.Files(world.folder / "in", "csv", "value BIGINT", order="name", malformed=dead)


def wrong_letters(world: World) -> list[Any]:
    """Dead letters that are missing, and those that are there too often."""
    parts = sorted((world.folder / "dead").glob("epoch=*/*.parquet"))
    found = Counter(
        tuple(row.values()) for part in parts for row in pq.ParquetFile(part).read().to_pylist()
    )
    wanted = Counter((f"{n}.csv", ROWS + 1, f"no number {n}") for n in range(EPOCHS))
    return [*(wanted - found).elements(), *(found - wanted).elements()]


def table(kind: str, further: str = "") -> Callable[[World], None]:
    """Fills a table of a kind of database."""

    def fill(world: World) -> None:
        numbers = (f"({v + 1}, {v})" for e in range(EPOCHS) for v in values(e))
        world.execute(
            kind,
            f"CREATE TABLE numbers (id BIGINT PRIMARY KEY, value BIGINT {further})",
            f"INSERT INTO numbers (id, value) VALUES {', '.join(numbers)}",
        )

    return fill


LEASES = ", falkirk_consumer TEXT, falkirk_lease BIGINT, falkirk_until DOUBLE PRECISION"


def table_part(kind: str) -> SourcePart:
    """Rows by their key."""
    return SourcePart(
        table(kind),
        lambda world: fk.TableSource(
            world.url(kind), "numbers", columns=["value"], settle_seconds=0
        ),
        fk.Limit(rows=ROWS),
    )


def queue_part(kind: str) -> SourcePart:
    """Rows that are leased, and deleted when they are acknowledged."""
    return SourcePart(
        table(kind, LEASES),
        lambda world: fk.QueueSource(
            world.url(kind), "numbers", columns=["value"], rows_per_lease=ROWS
        ),
        left=lambda world: world.rows(kind, "SELECT id FROM numbers"),
    )


class NumbersOfKafka(fk.KafkaSource):
    """A topic of numbers in decimal."""

    def arrange(self, stream: Any) -> Any:
        """Numbers instead of bytes."""
        return stream.select("CAST(CAST(value AS STRING) AS BIGINT) AS value")


def fill_kafka(world: World) -> None:
    """All numbers in one partition, so that they stay in order."""
    topics = Topics(world.kafka)
    topics.new_topic(name=topic(world, "numbers"))
    topics.send(topic(world, "numbers"), range(EPOCHS * ROWS))


def numbers_of_kafka(world: World) -> Any:
    """The topic, to its end; the driver reads it, for Spark would need jars."""
    name = topic(world, "numbers")
    return NumbersOfKafka(
        world.kafka, name, group=name, until={name: {0: EPOCHS * ROWS}}, driver_rows_max=100
    )


def left_in_kafka(world: World) -> list[Any]:
    """What the group has not acknowledged."""
    name = topic(world, "numbers")
    return list(range(*Topics(world.kafka).committed(name, name, 1), EPOCHS * ROWS))


SOURCES: dict[str, SourcePart] = {
    "files": SourcePart(fill_files, files, fk.Limit(files=1), wrong_letters),
    "table-sqlite": table_part("sqlite"),
    "table-postgres": table_part("postgres"),
    "queue-sqlite": queue_part("sqlite"),
    "queue-postgres": queue_part("postgres"),
    "table-mariadb": table_part("mariadb"),
    "queue-mariadb": queue_part("mariadb"),
    "kafka": SourcePart(fill_kafka, numbers_of_kafka, fk.Limit(rows=ROWS), left_in_kafka),
    "python": SourcePart(
        lambda world: None,
        lambda world: NumbersOfPython(Ledger, {"path": str(world.folder / "acknowledged")}),
        left=lambda world: unacknowledged(world.folder / "acknowledged"),
    ),
}
