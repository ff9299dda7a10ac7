"""Sources, sinks and policies by name, so that any three of them make a flow to be killed.

Another system is added by one line in ``SOURCES`` or ``SINKS``: what makes it, what fills it before
the first start, and what is in it at the end. A source gives ``EPOCHS`` epochs with the numbers
``value`` from 0 on, ``ROWS`` of them each, and no others, however often it is started.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from tests.servers import delta
from tests.servers.topics import Topics

import falkirk as fk
from falkirk.differential import collection

EPOCHS, ROWS, KEYS = 4, 6, 3

Found = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class World:
    """What is outside of the flow: a folder, a PostgreSQL database and Kafka if there are any."""

    folder: Path
    postgres: str = ""
    kafka: str = ""

    def url(self, kind: str) -> str:
        """The address of a database for SQLAlchemy."""
        return self.postgres if kind == "postgres" else f"sqlite:///{self.folder}/outside.sqlite"

    def execute(self, kind: str, *statements: str) -> None:
        """Carries out statements by the database's own driver."""
        if kind == "postgres":
            with psycopg.connect(self.postgres) as server:
                for statement in statements:
                    server.execute(statement)
            return
        with sqlite3.connect(self.folder / "outside.sqlite", timeout=30) as file:
            for statement in statements:
                file.execute(statement)
        file.close()

    def rows(self, kind: str, query: str) -> list[tuple[Any, ...]]:
        """What a query finds, by the database's own driver."""
        if kind == "postgres":
            with psycopg.connect(self.postgres) as server:
                return [tuple(row) for row in server.execute(query).fetchall()]
        with sqlite3.connect(self.folder / "outside.sqlite", timeout=30) as file:
            found = file.execute(query).fetchall()
        file.close()
        return found


# Sources.


@dataclass(frozen=True)
class SourcePart:
    """How a source is filled and made, and what must be left of it when all is acknowledged."""

    fill: Callable[[World], None]
    make: Callable[[World], Any]
    limit: Any = None
    left: Callable[[World], list[Any]] = lambda world: []


def fill_files(world: World) -> None:
    """One file an epoch."""
    folder = world.folder / "in"
    folder.mkdir(parents=True)
    for epoch in range(EPOCHS):
        table = pa.table({"value": pa.array(values(epoch), pa.int64())})
        pq.write_table(table, folder / f"{epoch}.parquet")


def files(world: World) -> Any:
    """The files, in the order of their names."""
    return fk.Files(world.folder / "in", schema="value BIGINT", order="name")


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
        lambda world: fk.TableSource(world.url(kind), "numbers", columns=["value"]),
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


def topic(world: World, name: str) -> str:
    """The name of a topic that no other campaign has."""
    return f"{name}-{uuid5(NAMESPACE_URL, str(world.folder)).hex}"


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
    "files": SourcePart(fill_files, files, fk.Limit(files=1)),
    "table-sqlite": table_part("sqlite"),
    "table-postgres": table_part("postgres"),
    "queue-sqlite": queue_part("sqlite"),
    "queue-postgres": queue_part("postgres"),
    "kafka": SourcePart(fill_kafka, numbers_of_kafka, fk.Limit(rows=ROWS), left_in_kafka),
}


# Policies: of whoever has no state, and of whoever has.

POLICIES: dict[str, tuple[Any, Any]] = {
    "lazy": (fk.ephemeral(), fk.lazy(every=2)),
    "eager": (fk.ephemeral(), fk.eager()),
    "history": (fk.batch(), fk.history()),
    "batch": (fk.batch(), fk.lazy()),
}


# Sinks.


@dataclass(frozen=True)
class SinkPart:
    """How the rows for a sink are made and written, what it shows, and what it must show."""

    write: Callable[[World, Any, str, Any, Callable[[Any], Any]], None]
    shown: Callable[[World, str], Found]
    expected: Callable[[], Found]


def totals(stream: Any, name: str, policy: Any) -> Any:
    """A running count and a running sum by key."""
    return stream.group_by("k").agg(
        n="count(*)", total="sum(value)", name=f"{name}-totals", policy=policy
    )


def written_parquet(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
    """Running totals into a folder."""
    sink = struck(fk.ParquetSink(world.folder / name))
    totals(stream, name, policy).write(sink, name=name)


def shown_parquet(world: World, name: str) -> Found:
    """What is in the folder."""
    parts = sorted((world.folder / name).glob("epoch=*/*.parquet"))
    return Counter(row for part in parts for row in in_order(pq.ParquetFile(part).read()))


def in_order(rows: Any) -> Iterable[tuple[Any, ...]]:
    """The rows of a table with their columns in the order of their names."""
    return (tuple(row[name] for name in sorted(row)) for row in rows.to_pylist())


def tables(kind: str, **options: Any) -> Callable[..., None]:
    """Running totals into a table."""

    def write(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
        sink = struck(fk.TableSink(world.url(kind), name.replace("-", "_"), **options))
        totals(stream, name, policy).write(sink, name=name)

    return write


def changes(kind: str) -> Callable[..., None]:
    """The totals as a collection that changes."""

    def write(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
        sink = fk.TableSink(world.url(kind), name.replace("-", "_"), mode="changes")
        rows = collection(stream, name=f"{name}-rows").group_by("k")
        counted = rows.count(name=f"{name}-counts", policy=policy)
        counted.changes(name=f"{name}-changes").write(struck(sink), name=name)

    return write


def together(kind: str) -> Callable[..., None]:
    """Each row and the totals of all, in one transaction."""

    def write(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
        plain = name.replace("-", "_")
        sink = fk.TableSinks(
            {
                "each": fk.TableSink(world.url(kind), f"{plain}_each"),
                "totals": fk.TableSink(world.url(kind), plain, mode="upsert", key="k"),
            }
        )
        parts = {"each": stream, "totals": totals(stream, name, policy)}
        stream.flow.write_together(parts, struck(sink), name=name)

    return write


def shown_table(kind: str, columns: str, *further: str) -> Callable[[World, str], Found]:
    """What is in a table; ``further`` are queries on other tables of the same sink."""

    def shown(world: World, name: str) -> Found:
        plain = name.replace("-", "_")
        queries = [f"SELECT {columns} FROM {plain}", *(each.format(plain) for each in further)]
        return Counter(row for query in queries for row in world.rows(kind, query))

    return shown


def written_kafka(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
    """Running totals into a topic, which is there before the first start."""
    if not Topics(world.kafka).has(topic(world, name)):
        Topics(world.kafka).new_topic(2, topic(world, name))
    sink = struck(fk.KafkaSink(world.kafka, topic(world, name), key="k"))
    totals(stream, name, policy).write(sink, name=name)


def shown_kafka(world: World, name: str) -> Found:
    """What consumers of the topic see."""
    rows = (json.loads(value) for value in Topics(world.kafka).values(topic(world, name)))
    return Counter((row["k"], row["n"], row["total"]) for row in rows)


def written_delta(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
    """Running totals into a Delta table."""
    sink = struck(fk.DeltaSink(world.folder / name))
    totals(stream, name, policy).write(sink, name=name)


def shown_delta(world: World, name: str) -> Found:
    """What the log of the table leads to."""
    return Counter((row["k"], row["n"], row["total"]) for row in delta.rows(world.folder / name))


def all_totals() -> Found:
    """What a failure-free run appends: the groups of each epoch, as they stand then."""
    return Counter(row for epoch in range(EPOCHS) for row in groups_after(epoch))


def last_totals() -> Found:
    """What a failure-free run leaves of each group."""
    return Counter(groups_after(EPOCHS - 1))


def groups_after(epoch: int) -> list[tuple[int, int, int]]:
    """Key, count and sum after an epoch; each epoch touches every key."""
    seen = range((epoch + 1) * ROWS)
    groups = [[v for v in seen if v % KEYS == k] for k in range(KEYS)]
    return [(k, len(group), sum(group)) for k, group in enumerate(groups)]


def values(epoch: int) -> list[int]:
    """The numbers of one epoch."""
    return list(range(epoch * ROWS, (epoch + 1) * ROWS))


def each_and_totals() -> Found:
    """All rows beside the totals."""
    each = [(v % KEYS, v) for epoch in range(EPOCHS) for v in values(epoch)]
    return last_totals() + Counter(each)


def counts() -> Found:
    """How many there are of each key in the end."""
    return Counter((k, n) for k, n, _ in last_totals())


def sink_parts(kind: str) -> dict[str, SinkPart]:
    """The ways to write to a kind of database."""
    columns = "k, n, total"
    return {
        f"append-{kind}": SinkPart(tables(kind), shown_table(kind, columns), all_totals),
        f"upsert-{kind}": SinkPart(
            tables(kind, mode="upsert", key="k"), shown_table(kind, columns), last_totals
        ),
        f"changes-{kind}": SinkPart(changes(kind), shown_table(kind, "k, count"), counts),
        f"together-{kind}": SinkPart(
            together(kind),
            shown_table(kind, columns, "SELECT k, value FROM {}_each"),
            each_and_totals,
        ),
    }


SINKS: dict[str, SinkPart] = {
    "parquet": SinkPart(written_parquet, shown_parquet, all_totals),
    "kafka": SinkPart(written_kafka, shown_kafka, all_totals),
    "delta": SinkPart(written_delta, shown_delta, all_totals),
    **sink_parts("sqlite"),
    **sink_parts("postgres"),
}


# A flow of them.

Branch = tuple[str, str]
"""A policy and a sink."""


def flow_of(world: World, source: str, branches: Iterable[Branch], struck: Any) -> fk.Dataflow:
    """One source, and for each branch a stateful step under a policy, and a sink."""
    part = SOURCES[source]
    flow = fk.Dataflow("connected")
    read = flow.read(struck(part.make(world)), name="numbers", limit=part.limit)
    for policy, sink in branches:
        stateless, stateful = POLICIES[policy]
        keyed = read.select(f"value % {KEYS} AS k", "value", name=f"{sink}-keyed", policy=stateless)
        SINKS[sink].write(world, keyed, sink, stateful, struck)
    return flow


def judge(world: World, source: str, branches: Iterable[Branch]) -> list[str]:
    """Everything that is wrong with what is outside, in the words of whoever has it."""
    wrong = [
        f"{source}: {left} were not acknowledged" for left in [SOURCES[source].left(world)] if left
    ]
    for _, sink in branches:
        shown, expected = SINKS[sink].shown(world, sink), SINKS[sink].expected()
        if shown != expected:
            lost, more = expected - shown, shown - expected
            wrong.append(f"{sink}: lost {dict(lost)}, too many {dict(more)}")
    return wrong
