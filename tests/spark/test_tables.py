"""Flows from tables to tables: exactly once, whatever becomes of the store or the server."""

import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession
from tests.contracts.databases import KINDS, POSTGRES, SECRET, Outside, open_outside
from tests.servers.lacking import lacking
from tests.servers.postgres import NoServer, Server

import falkirk as fk
from falkirk.core.errors import OutageError, PermanentError
from falkirk.differential import collection
from falkirk.runtime.options import Options
from falkirk.runtime.patience import Patience
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered, Script

pytestmark = pytest.mark.spark

every_database = pytest.mark.parametrize("outside", KINDS, indirect=True)

WORDS = [["a", "b"], ["a", "c"], ["b"]]


@pytest.fixture(params=["sqlite", POSTGRES])
def outside(request: pytest.FixtureRequest, tmp_path: Path) -> Outside:
    """Two kinds of databases; a few tests have others, too."""
    return open_outside(request.param, tmp_path, request)


def words(*epochs: list[str]) -> Script:
    """Words, some an epoch."""
    return Script([[{"word": word} for word in epoch] for epoch in epochs])


def counting(source: Any, **sinks: Any) -> fk.Dataflow:
    """A running count of words, for several sinks."""
    flow = fk.Dataflow("counting")
    counts = flow.read(source, name="words").group_by("word").count(name="counts")
    for name, sink in sinks.items():
        counts.write(sink, name=name)
    return flow


def contents(outside: Outside, table: str) -> Counter[tuple[Any, ...]]:
    """What is in a table, as a multiset."""
    return Counter(tuple(row.values()) for row in outside.rows(f'SELECT * FROM "{table}"'))


def check_modes(spark: SparkSession, store: Path, outside: Outside, options: Options) -> None:
    """A flow that writes one table in each mode."""
    flow = counting(
        words(*WORDS),
        appended=fk.TableSink(outside.url, "appended"),
        newest=fk.TableSink(outside.url, "newest", mode="upsert", key="word"),
    )
    several = collection(flow.read(words(*WORDS), name="again")).group_by("word").count()
    several.changes().write(fk.TableSink(outside.url, "changed", mode="changes"), name="changed")
    run(flow, store, spark, options=options)
    appended = [("a", 1), ("b", 1), ("a", 2), ("c", 1), ("b", 2)]
    assert contents(outside, "appended") == Counter(appended)
    assert contents(outside, "newest") == Counter([("a", 2), ("b", 2), ("c", 1)])
    assert contents(outside, "changed") == Counter([("a", 2), ("b", 2), ("c", 1)])


@every_database
def test_every_mode_in_one_flow(spark: SparkSession, tmp_path: Path, outside: Outside) -> None:
    check_modes(spark, tmp_path / "state", outside, Options())


def test_rows_on_executors(
    spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    outside = open_outside("sqlite", tmp_path, request)
    check_modes(spark, tmp_path / "state", outside, Options(small_bytes_max=0))


def test_a_table_feeds_a_table(spark: SparkSession, tmp_path: Path, outside: Outside) -> None:
    outside.execute(
        "CREATE TABLE words (id BIGINT PRIMARY KEY, word TEXT)",
        *(f"INSERT INTO words VALUES ({n}, '{'abc'[n % 3]}')" for n in range(7)),
    )
    flow = fk.Dataflow("tables")
    read = flow.read(fk.TableSource(outside.url, "words"), name="words", limit=2)
    counts = read.group_by("word").count(name="counts")
    counts.write(fk.TableSink(outside.url, "newest", mode="upsert", key="word"), name="newest")
    run(flow, tmp_path / "state", spark)
    assert contents(outside, "newest") == Counter([("a", 3), ("b", 2), ("c", 2)])


@every_database
def test_a_queue_is_emptied_as_its_rows_are_counted(
    spark: SparkSession, tmp_path: Path, outside: Outside
) -> None:
    outside.execute(
        "CREATE TABLE jobs (id BIGINT PRIMARY KEY, word TEXT, falkirk_consumer TEXT,"
        " falkirk_lease BIGINT, falkirk_until DOUBLE PRECISION)",
        *(f"INSERT INTO jobs (id, word) VALUES ({n}, '{'abc'[n % 3]}')" for n in range(7)),
    )
    sink = fk.TableSink(outside.url, "newest", mode="upsert", key="word")
    source = fk.QueueSource(outside.url, "jobs", rows_per_lease=2)
    run(counting(source, newest=sink), tmp_path / "state", spark)
    assert contents(outside, "newest") == Counter([("a", 3), ("b", 2), ("c", 2)])
    assert outside.rows("SELECT * FROM jobs") == []


def test_a_new_store_is_refused_until_one_says_what_to_do(
    spark: SparkSession, tmp_path: Path, outside: Outside
) -> None:
    def flow(**options: Any) -> fk.Dataflow:
        return counting(words(*WORDS), out=fk.TableSink(outside.url, "out", **options))

    run(flow(), tmp_path / "one", spark)
    before = contents(outside, "out")
    with pytest.raises(PermanentError, match="replace=True"):
        run(flow(), tmp_path / "two", spark)
    assert contents(outside, "out") == before
    run(flow(replace=True), tmp_path / "two", spark)
    assert contents(outside, "out") == before
    run(flow(), tmp_path / "two", spark)


def test_a_folder_of_another_store_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    def flow(**options: Any) -> fk.Dataflow:
        return counting(words(*WORDS), out=fk.ParquetSink(tmp_path / "out", **options))

    run(flow(), tmp_path / "one", spark)
    with pytest.raises(PermanentError, match="replace=True"):
        run(flow(), tmp_path / "two", spark)
    run(flow(replace=True), tmp_path / "two", spark)
    assert spark.read.parquet(str(tmp_path / "out")).count() == 5


def test_tables_show_the_same_time(spark: SparkSession, tmp_path: Path, outside: Outside) -> None:
    flow = fk.Dataflow("together")
    read = flow.read(words(*WORDS), name="words")
    sinks = fk.TableSinks(
        {
            "each": fk.TableSink(outside.url, "each"),
            "totals": fk.TableSink(outside.url, "totals", mode="upsert", key="word"),
        }
    )
    totals = read.group_by("word").count(name="counts")
    flow.write_together({"totals": totals, "each": read}, sinks, name="both")
    run(flow, tmp_path / "state", spark)
    assert contents(outside, "totals") == Counter([("a", 2), ("b", 2), ("c", 1)])
    assert contents(outside, "each") == Counter({("a",): 2, ("b",): 2, ("c",): 1})
    marks = outside.rows("SELECT output, table_name, time FROM falkirk_sinks ORDER BY table_name")
    assert [tuple(mark.values()) for mark in marks] == [
        ("both", "each", "[2]"),
        ("both", "totals", "[2]"),
    ]


def test_columns_that_do_not_fit_stop_the_flow_at_once(
    spark: SparkSession, tmp_path: Path, outside: Outside
) -> None:
    outside.execute('CREATE TABLE "out" (word TEXT, count TEXT)')
    flow = counting(words(*WORDS), out=fk.TableSink(outside.url, "out"))
    with pytest.raises(PermanentError, match=r"sink 'out' did not take time \(0,\).*'count'"):
        run(flow, tmp_path / "state", spark)


def test_secrets_stay_in_the_address(
    spark: SparkSession, tmp_path: Path, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    outside.execute(
        "CREATE TABLE words (id BIGINT, word TEXT)", "INSERT INTO words VALUES (1, 'a')"
    )
    url = outside.url
    flow = counting(fk.TableSource(url, "words", driver_rows_max=1), out=fk.TableSink(url, "out"))
    with caplog.at_level(logging.DEBUG):
        run(flow, tmp_path / "state", spark)
        logging.getLogger("falkirk.test").info("%s %s", flow.explain(), flow.nodes)
    assert SECRET not in caplog.text
    with sqlite3.connect(tmp_path / "state" / "metadata.sqlite") as metadata:
        dumped = "\n".join(metadata.iterdump())
    metadata.close()
    assert "identity" in dumped
    assert SECRET not in dumped


# A server that goes and comes back.


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of one's own, to be stopped."""
    try:
        found = Server()
    except NoServer as error:
        lacking("a PostgreSQL server", error)
    yield found
    found.stop()


class Halting(Script):
    """A script at whose third epoch the server goes; it is back when ``back`` is called."""

    server: Any = None

    def read(self, session: Any, start: int, end: int) -> Any:
        """The rows of the script."""
        if start == 2 and self.server.process.poll() is None and not self.server.halted:
            self.server.halted = True
            self.server.halt()
            threading.Timer(2.5, self.server.resume).start()
        return Script.read(self, session, start, end)


@pytest.mark.slow
def test_a_server_that_is_down_delays_and_loses_nothing(
    spark: SparkSession, tmp_path: Path, server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """What it did not take is staged, no more is read than may wait, and then it goes on."""
    url, epochs = server.new_database(), 40
    server.halted = False
    source = Halting([[{"word": f"w{n}"}, {"word": "all"}] for n in range(epochs)])
    object.__setattr__(source, "server", server)
    sink = fk.TableSink(url, "newest", mode="upsert", key="word")
    each = fk.TableSink(url, "each")
    bounded = Options(waiting_writes_max=4)
    with caplog.at_level(logging.WARNING, "falkirk.sink"):
        run(counting(source, newest=sink, each=each), tmp_path / "state", spark, options=bounded)
    assert server.halted
    assert "again in" in caplog.text, "the sink was never down while it was written to"
    with psycopg.connect(url) as connection:
        found = dict(connection.execute("SELECT word, count FROM newest").fetchall())
        (rows,) = connection.execute("SELECT count(*) FROM each").fetchone() or (0,)
    assert found == {**{f"w{n}": 1 for n in range(epochs)}, "all": epochs}
    assert rows == 2 * epochs
    assert source.committed[-1] == epochs


class Away:
    """A sink whose system is away."""

    exactly_once = True

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Nobody answers."""
        raise OutageError("nobody answers")


def test_a_server_that_stays_away_ends_the_run_and_the_next_one_goes_on(
    spark: SparkSession, tmp_path: Path, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("falkirk.runtime.insisting.OUTAGE", Patience(2, 0.01))
    with pytest.raises(OutageError, match="staged durably"):
        run(counting(words(*WORDS), out=Away()), tmp_path / "state", spark)
    sink = type("Away", (fk.TableSink,), {})(outside.url, "out")  # a store knows sinks by class
    run(counting(words(*WORDS), out=sink), tmp_path / "state", spark)
    assert contents(outside, "out").total() == 5


def test_an_acknowledgement_that_was_lost_is_given_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A process may die after the store knows that rows are not needed, and before the source."""

    class Deaf(Script):
        """A script that does not hear acknowledgements."""

        def commit(self, end: int) -> None:
            """Nobody listens."""

    epochs = [[{"word": word} for word in epoch] for epoch in WORDS]
    deaf, hearing = Deaf(epochs), type("Deaf", (Script,), {})(epochs)
    run(counting(deaf, out=Remembered()), tmp_path / "state", spark)
    run(counting(hearing, out=Remembered()), tmp_path / "state", spark)
    assert hearing.committed == [len(WORDS)]
