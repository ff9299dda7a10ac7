"""What is particular to MariaDB: transactions that tables end, texts that it folds, its types."""

import gc
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.contracts.databases import SECRET, Outside, open_outside
from tests.servers.lacking import lacking
from tests.servers.mariadb import Mariadb, NoMariadb
from tests.unit.connectors.test_sql_columns import column
from tests.unit.connectors.test_sql_modes import changing, contents, keyed

from falkirk.connectors import QueueSource, TableSink, TableSinks, TableSource
from falkirk.connectors.sql.database import Database
from falkirk.connectors.sql.mysql import lock_names
from falkirk.core.errors import OutageError, PermanentError
from falkirk.dataflow import Limit
from falkirk.testing.contracts import Broken, Rows, Torn
from falkirk.testing.contracts.sinks import all_types, rows_of, some
from falkirk.testing.contracts.sources import counted, refuse_secrets

pytestmark = pytest.mark.slow

ALL = Limit()


@pytest.fixture
def outside(request: pytest.FixtureRequest, tmp_path: Path) -> Outside:
    """A database of MariaDB."""
    return open_outside("mariadb", tmp_path, request)


Given = Callable[..., Any]


@pytest.fixture
def given(outside: Outside, request: pytest.FixtureRequest) -> Given:
    """Makes a connector on that database, which is closed at the end."""

    def make(kind: Any, *words: Any, **options: Any) -> Any:
        made = kind(outside.url, *words, **options)
        request.addfinalizer(made.close)
        return made

    return make


def marks(outside: Outside) -> list[Any]:
    return [row["time"] for row in outside.rows("SELECT time FROM falkirk_sinks")]


def test_a_table_that_is_made_does_not_end_the_transaction(outside: Outside, given: Given) -> None:
    """The mark is moved before the table is made, and goes back with the rows."""
    sink = given(TableSink, "t")
    sink.attach("o", "store")
    with pytest.raises(Broken):
        sink.write("o", (0,), Torn(keyed(k1="a", k2="b").arrow()))
    assert marks(outside) == [None]
    assert not contents(outside, "t")


@pytest.mark.parametrize("mode", ["upsert", "changes"])
def test_a_stage_that_is_dropped_does_not_end_the_transaction(outside: Outside, mode: str) -> None:
    """What the first table was given goes back when the second one breaks off."""
    options: Any = {"mode": mode, "key": "a"} if mode == "upsert" else {"mode": mode}
    both = TableSinks(
        {
            "first": TableSink(outside.url, "first", **options),
            "second": TableSink(outside.url, "second", **options),
        }
    )
    both.attach("o", "store")
    whole = changing((1, "x", 1), (2, "y", 1))
    both.write_together("o", (0,), {"first": whole, "second": whole})
    before = contents(outside, "first")
    more = changing((3, "z", 1), (4, "z", 1))
    with pytest.raises(Broken):
        both.write_together("o", (1,), {"first": more, "second": Torn(more.arrow())})
    both.close()
    assert marks(outside) == ["[0]", "[0]"]
    assert contents(outside, "first") == contents(outside, "second") == before


def test_texts_that_it_would_fold_are_told_apart(outside: Outside, given: Given) -> None:
    texts = ["a", "A", "ä", "a ", "", " "]
    rows = Rows(pa.table({"k": texts, "n": range(len(texts))}))
    put = given(TableSink, "put", mode="upsert", key="k")
    put.write("o", (0,), rows)
    put.write("o", (1,), Rows(pa.table({"k": ["A", "a "], "n": [10, 11]})))
    found = {row["k"]: row["n"] for row in outside.rows("SELECT * FROM put")}
    assert found == {"a": 0, "A": 10, "ä": 2, "a ": 11, "": 4, " ": 5}
    changed = given(TableSink, "changed", mode="changes")
    changed.write("o", (0,), changing((1, "a", 1), (1, "A", 2), (1, "a ", 1)))
    changed.write("o", (1,), changing((1, "A", -1), (1, "a ", -1)))
    assert contents(outside, "changed") == {(1, "a"): 1, (1, "A"): 1}


@pytest.mark.parametrize("mode", ["append", "upsert", "changes"])
def test_a_table_that_folds_what_is_compared_is_refused(
    outside: Outside, given: Given, mode: str
) -> None:
    outside.execute("CREATE TABLE t (a BIGINT, b VARCHAR(20)) COLLATE utf8mb4_general_ci")
    columns: dict[str, Any] = {"a": [1, 2], "b": ["x", "X"]}
    rows = Rows(pa.table({**columns, "change": [1, 1]} if mode == "changes" else columns))
    options = {"mode": mode, "key": "b"} if mode == "upsert" else {"mode": mode}
    sink = given(TableSink, "t", **options)
    if mode == "append":
        sink.write("o", (0,), rows)
        assert len(outside.rows("SELECT * FROM t")) == 2
        return
    with pytest.raises(PermanentError, match=r"'b'.*utf8mb4_general_ci.*utf8mb4_nopad_bin"):
        sink.write("o", (0,), rows)


def test_an_index_of_its_own_that_folds_keys_is_an_error_and_loses_no_row(
    outside: Outside, given: Given
) -> None:
    """ON DUPLICATE KEY would put one row in the place of the other, and say nothing."""
    outside.execute(
        "CREATE TABLE t (k VARCHAR(9) COLLATE utf8mb4_nopad_bin PRIMARY KEY, n BIGINT,"
        " folded VARCHAR(9) COLLATE utf8mb4_general_ci AS (k) PERSISTENT UNIQUE)"
    )
    sink = given(TableSink, "t", mode="upsert", key="k")
    sink.write("o", (0,), Rows(pa.table({"k": ["a"], "n": [1]})))
    with pytest.raises(PermanentError, match="Duplicate"):
        sink.write("o", (1,), Rows(pa.table({"k": ["A"], "n": [2]})))
    assert outside.rows("SELECT k, n FROM t") == [{"k": "a", "n": 1}]


def test_a_row_is_changed_in_place(outside: Outside, given: Given) -> None:
    """What the rows do not have stays as it is."""
    outside.execute(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR(9), note VARCHAR(9) DEFAULT 'new')",
        "INSERT INTO t VALUES (1, 'old', 'mine')",
    )
    sink = given(TableSink, "t", mode="upsert", key="k")
    sink.write("o", (0,), keyed(k1="one", k2="two"))
    assert contents(outside, "t") == {(1, "one", "mine"): 1, (2, "two", "new"): 1}


def test_a_table_without_transactions_is_refused(outside: Outside, given: Given) -> None:
    outside.execute("CREATE TABLE t (k BIGINT, v LONGTEXT) ENGINE = MyISAM")
    with pytest.raises(PermanentError, match=r"MyISAM.*ENGINE = InnoDB"):
        given(TableSink, "t").write("o", (0,), keyed(k1="a"))


def test_a_row_that_is_there_more_often_than_servers_count(outside: Outside, given: Given) -> None:
    """A recursion of MariaDB's ends at 1,000 steps, and says nothing."""
    sink = given(TableSink, "t", mode="changes")
    sink.write("o", (0,), changing((1, "x", 2_500), (2, "y", 3)))
    sink.write("o", (1,), changing((1, "x", -1), (2, "y", -3)))
    assert contents(outside, "t") == {(1, "x"): 2_499}


def test_what_does_not_fit_is_refused_and_not_cut(outside: Outside, given: Given) -> None:
    outside.execute("CREATE TABLE t (c VARCHAR(3))")
    sink = given(TableSink, "t")
    with pytest.raises(PermanentError, match="too long"):
        sink.write("o", (0,), column(["four"], pa.string()))
    assert not outside.rows("SELECT * FROM t")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_it_does_not_know_are_refused(given: Given, value: float) -> None:
    with pytest.raises(PermanentError, match="'c' has a NaN or an infinity"):
        given(TableSink, "t").write("o", (0,), column([value], pa.float64()))


@pytest.mark.parametrize(
    ("there", "values", "kind"),
    [
        ("DATETIME", [0], pa.timestamp("us")),
        ("TIMESTAMP(6)", [0], pa.timestamp("us")),
        ("DATE", [0], pa.timestamp("us", "UTC")),
        ("FLOAT", [0.1], pa.float64()),
        ("DOUBLE(10, 2)", [0.1], pa.float64()),
        ("CHAR(5)", ["x"], pa.string()),
        ("BINARY(5)", [b"x"], pa.binary()),
        ("BLOB", ["x"], pa.string()),
        ("YEAR", ["2024"], pa.string()),
        ("TINYINT(4)", [True], pa.bool_()),
    ],
)
def test_columns_that_would_change_a_value_are_refused(
    outside: Outside, given: Given, there: str, values: Any, kind: Any
) -> None:
    outside.execute(f"CREATE TABLE t (c {there})")
    with pytest.raises(PermanentError, match="column 'c'"):
        given(TableSink, "t").write("o", (0,), column(values, kind))


@pytest.mark.parametrize(
    ("there", "values", "kind", "found"),
    [
        ("DECIMAL(20)", [7], pa.int64(), Decimal(7)),
        ("TINYINT(1)", [True], pa.bool_(), 1),
        ("DOUBLE", [0.5], pa.float32(), 0.5),
        ("BLOB", [b"x"], pa.binary(), b"x"),
        ("TEXT", ["x"], pa.string(), "x"),
        ("BIGINT UNSIGNED", [7], pa.int16(), 7),
    ],
)
def test_columns_that_hold_it_are_fine(
    outside: Outside, given: Given, there: str, values: Any, kind: Any, found: Any
) -> None:
    outside.execute(f"CREATE TABLE t (c {there})")
    given(TableSink, "t").write("o", (0,), column(values, kind))
    assert outside.rows("SELECT c FROM t") == [{"c": found}]


def test_every_type_comes_back(outside: Outside, given: Given) -> None:
    """A moment has no time zone there: it is in UTC. A truth value is a number."""
    written = all_types()
    sink = given(TableSink, "t")
    sink.write("o", (0,), Rows(written))
    again = given(TableSink, "t")  # it looks at the table that is there
    again.write("o", (1,), Rows(written.slice(0, 0)))
    source = given(TableSource, "t", key="k", settle_seconds=0)
    found = source.read(None, None, source.latest(None, ALL)).to_pylist()
    expected = written.to_pylist()
    for row in expected:
        moment, truth = row["a_moment"], row["a_bool"]
        row["a_moment"] = None if moment is None else moment.replace(tzinfo=None)
        row["a_bool"] = None if truth is None else int(truth)
    assert counted(found) == counted(expected)


def test_its_own_types_are_read_as_they_are(outside: Outside, given: Given) -> None:
    outside.execute(
        "CREATE TABLE t (id BIGINT UNSIGNED, i INT UNSIGNED, s SMALLINT UNSIGNED, y TINYINT,"
        " f FLOAT, at TIMESTAMP(6) NULL, e ENUM('a', 'b'), b VARBINARY(9), m MEDIUMTEXT)",
        "INSERT INTO t VALUES (18446744073709551615, 4294967295, 65535, -128, 16777215,"
        " '2024-02-29 12:00:00.123456', 'b', x'00ff', 'm')",
    )
    source = given(TableSource, "t", settle_seconds=0)
    end = source.latest(None, ALL)
    (row,) = source.read(None, None, end).to_pylist()
    assert row.pop("at").isoformat() == "2024-02-29T12:00:00.123456+00:00"
    assert list(row.values()) == [
        2**64 - 1,
        2**32 - 1,
        65535,
        -128,
        16777215.0,
        "b",
        b"\0\xff",
        "m",
    ]
    assert source.finished(end)
    outside.execute("CREATE TABLE sets (id BIGINT, s SET('a', 'b'))")
    with pytest.raises(PermanentError, match="'s' of 'sets'"):
        given(TableSource, "sets").latest(None, ALL)


def test_consumers_are_told_apart_to_the_letter(outside: Outside, given: Given) -> None:
    outside.execute(
        "CREATE TABLE q (id BIGINT PRIMARY KEY, falkirk_consumer TEXT, falkirk_lease BIGINT,"
        " falkirk_until DOUBLE PRECISION)",
        "INSERT INTO q (id) VALUES (1), (2)",
    )
    one, other = (given(QueueSource, "q", consumer=name) for name in ("flow", "Flow"))
    end = one.latest([0, 0], Limit(rows=1))
    assert other.latest([0, 0], ALL) == [1, 1]
    assert other.read(None, [0, 0], [1, 1])["id"].to_pylist() == [2]
    one.commit(end)
    assert [row["id"] for row in outside.rows("SELECT id FROM q")] == [2]


def test_locked_rows_are_skipped(outside: Outside, given: Given) -> None:
    outside.execute(
        "CREATE TABLE q (id BIGINT PRIMARY KEY, falkirk_consumer TEXT, falkirk_lease BIGINT,"
        " falkirk_until DOUBLE PRECISION)",
        "INSERT INTO q (id) VALUES (1), (2), (3)",
    )
    with outside.connected() as other:
        other.execute("BEGIN")
        other.execute("SELECT id FROM q WHERE id = 2 FOR UPDATE")
        source = given(QueueSource, "q")
        assert source.latest([0, 0], ALL) == [1, 2]
        assert source.read(None, [0, 0], [1, 2])["id"].to_pylist() == [1, 3]
        other.execute("ROLLBACK")


def break_off(database: Database) -> None:
    """Whoever made marks went away in the middle."""
    with database.writing() as connection:
        lock_names(connection, 1)
        raise Broken


def test_marks_are_made_by_one_at_a_time(
    outside: Outside, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("falkirk.connectors.sql.database.BUSY_SECONDS", 1)
    sink, database = given(TableSink, "t"), Database(outside.url)
    with database.writing() as connection:
        lock_names(connection, 1)
        with pytest.raises(OutageError, match="marks"):
            sink.attach("o", "store")
    sink.attach("o", "store")
    with pytest.raises(Broken):
        break_off(database)
    sink.attach("another", "store")
    database.close()


def test_several_marks_are_made_at_once_and_then_others_make_theirs(
    outside: Outside, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that took the lock for each of its tables would keep it in the pool."""
    monkeypatch.setattr("falkirk.connectors.sql.database.BUSY_SECONDS", 1)
    both = TableSinks({name: TableSink(outside.url, name) for name in ("first", "second")})
    both.attach("together", "store")
    given(TableSink, "third").attach("alone", "store")
    both.close()
    assert marks(outside) == [None] * 3


@pytest.fixture
def server() -> Iterator[Mariadb]:
    """A server of one's own, to be stopped."""
    try:
        found = Mariadb()
    except NoMariadb as error:
        lacking("a MariaDB server", error)
    yield found
    found.stop()


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_a_server_that_is_killed_and_comes_back(server: Mariadb) -> None:
    """What was committed is there; what was not is written again, by the same connector."""
    url = server.new_database()
    sink, source = TableSink(url, "t"), TableSource(url, "t", key="k", settle_seconds=0)
    sink.attach("o", "store")
    sink.write("o", (0,), some(0))
    assert source.latest(None, ALL) == 0
    server.halt()
    for attempt in (partial(sink.write, "o", (1,), some(1)), partial(source.latest, 0, ALL)):
        with pytest.raises(OutageError):
            attempt()
    gc.collect()  # the driver leaves a socket open if nobody answers
    server.resume()
    for time in (0, 1):
        sink.write("o", (time,), some(time))
    assert source.latest(0, ALL) == 1
    assert source.read(None, None, 1).to_pylist() == rows_of(0, 1)
    sink.close()
    source.close()


@pytest.mark.parametrize("kind", [TableSink, TableSource, QueueSource])
def test_nobody_is_told_the_password(kind: Any) -> None:
    connector = kind(f"mariadb://me:{SECRET}@127.0.0.1:9/none?ssl_key_password={SECRET}", "t")
    first = (
        partial(connector.write, "o", (0,), some(0))
        if kind is TableSink
        else partial(connector.latest, connector.initial(), ALL)
    )
    with pytest.raises(OutageError, match=r"127\.0\.0\.1:9/none") as failed:
        first()
    refuse_secrets(failed.value, (SECRET,))
