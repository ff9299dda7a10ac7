"""Sinks by name: how rows get there, what it shows at the end, and what it must show."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq
from tests.faults.connector_python import Shelf, adding
from tests.faults.connector_world import EPOCHS, KEYS, ROWS, World, topic, values
from tests.servers import delta
from tests.servers.topics import Topics

import falkirk as fk
from falkirk.differential import collection

Found = Counter[tuple[Any, ...]]


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


def written_json(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
    """Running totals into a folder of JSON, which Spark writes."""
    sink = struck(fk.FileSink(world.folder / name, "json"))
    totals(stream, name, policy).write(sink, name=name)


def shown_json(world: World, name: str) -> Found:
    """What is in its lines."""
    parts = sorted((world.folder / name).glob("epoch=*/*.json"))
    rows = (json.loads(line) for part in parts for line in part.read_text().splitlines())
    return Counter((row["k"], row["n"], row["total"]) for row in rows)


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


def written_python(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
    """Running totals to a Python Data Source."""
    path = str(world.folder / f"{name}.parquet")
    sink = struck(fk.PythonSink(Shelf, {"path": path}, idempotent=True))
    totals(stream, name, policy).write(sink, name=name)


def written_function(world: World, stream: Any, name: str, policy: Any, struck: Any) -> None:
    """Running totals to a function."""
    sink = struck(fk.Function(adding(world.folder / f"{name}.parquet"), idempotent=True))
    totals(stream, name, policy).write(sink, name=name)


def shown_file(world: World, name: str) -> Found:
    """What is in the one file of a sink."""
    rows = pq.ParquetFile(world.folder / f"{name}.parquet").read().to_pylist()
    return Counter((row["k"], row["n"], row["total"]) for row in rows)


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
    "json": SinkPart(written_json, shown_json, all_totals),
    "kafka": SinkPart(written_kafka, shown_kafka, all_totals),
    "delta": SinkPart(written_delta, shown_delta, all_totals),
    "python": SinkPart(written_python, shown_file, all_totals),
    "function": SinkPart(written_function, shown_file, all_totals),
    **sink_parts("sqlite"),
    **sink_parts("postgres"),
    **sink_parts("mariadb"),
}
