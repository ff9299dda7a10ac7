"""The modes of a table: rows are put by their key, and counted up and down."""

from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from tests.contracts.databases import Outside, outside

from falkirk.connectors import TableSink, TableSinks
from falkirk.core.errors import ConfigurationError, PermanentError
from falkirk.testing.contracts import Broken, Rows, Torn

__all__ = ["outside"]

KEYED = pa.schema([("k", pa.int64()), ("v", pa.string())])
CHANGING = pa.schema([("a", pa.int64()), ("b", pa.string()), ("change", pa.int64())])


def keyed(**values: str | None) -> Rows:
    """Rows with a key and a value."""
    rows = [{"k": int(k[1:]), "v": v} for k, v in values.items()]
    return Rows(pa.Table.from_pylist(rows, KEYED))


def changing(*changes: tuple[Any, Any, int]) -> Rows:
    """Rows that come and go."""
    rows = [{"a": a, "b": b, "change": n} for a, b, n in changes]
    return Rows(pa.Table.from_pylist(rows, CHANGING))


def contents(outside: Outside, table: str = "out") -> Counter[tuple[Any, ...]]:
    """What is in a table, as a multiset."""
    return Counter(tuple(row.values()) for row in outside.rows(f'SELECT * FROM "{table}"'))


def test_a_row_takes_the_place_of_the_one_with_its_key(outside: Outside) -> None:
    sink = TableSink(outside.url, "out", mode="upsert", key="k")
    sink.write("o", (0,), keyed(k1="one", k2="two"))
    sink.write("o", (1,), keyed(k2="zwei", k3=None))
    sink.write("o", (0,), keyed(k1="one", k2="two"))
    sink.close()
    assert contents(outside) == Counter([(1, "one"), (2, "zwei"), (3, None)])


def test_rows_that_are_all_key(outside: Outside) -> None:
    sink = TableSink(outside.url, "out", mode="upsert", key=["k", "v"])
    sink.write("o", (0,), keyed(k1="one"))
    sink.write("o", (1,), keyed(k1="one", k2="two"))
    sink.close()
    assert contents(outside) == Counter([(1, "one"), (2, "two")])


def test_two_rows_with_one_key_have_no_order(outside: Outside) -> None:
    sink = TableSink(outside.url, "out", mode="upsert", key="k")
    twice = Rows(pa.Table.from_pylist([{"k": 1, "v": "a"}, {"k": 1, "v": "b"}], KEYED))
    with pytest.raises(PermanentError, match="same key"):
        sink.write("o", (0,), twice)
    with pytest.raises(PermanentError, match="no key"):
        sink.write("o", (0,), Rows(pa.Table.from_pylist([{"k": None, "v": "b"}], KEYED)))
    sink.close()


def test_rows_come_and_go_as_often_as_they_are_counted(outside: Outside) -> None:
    sink = TableSink(outside.url, "out", mode="changes")
    sink.write("o", (0,), changing((1, "x", 3), (None, "x", 2), (1, None, 1), (None, None, 2)))
    sink.write("o", (1,), changing((1, "x", -2), (None, "x", -2), (None, None, -1), (2, "y", 1)))
    sink.write("o", (1,), changing((1, "x", -2), (None, "x", -2), (None, None, -1), (2, "y", 1)))
    sink.write("o", (2,), changing((5, "z", 4), (5, "z", -4), (2, "y", -1), (2, "y", 2)))
    sink.close()
    expected = {(1, "x"): 1, (1, None): 1, (None, None): 1, (2, "y"): 2}
    assert contents(outside) == expected


def test_any_changes_leave_the_multiset_that_they_add_up_to(outside: Outside) -> None:
    random, there = Random(7), Counter[tuple[Any, ...]]()
    sink = TableSink(outside.url, "out", mode="changes")
    for time in range(12):
        changes = []
        for _ in range(random.randint(0, 6)):
            row = (random.choice([1, 2, None]), random.choice(["x", "y", None]))
            n = random.randint(-there[row], 3)
            there[row] += n
            changes.append((*row, n))
        sink.write("o", (time,), changing(*changes))
        assert contents(outside) == +there
    sink.close()


def test_a_row_that_is_not_there_cannot_go(outside: Outside) -> None:
    sink = TableSink(outside.url, "out", mode="changes")
    sink.write("o", (0,), changing((1, "x", 2)))
    outside.execute('DELETE FROM "out"')
    with pytest.raises(PermanentError, match="somebody else"):
        sink.write("o", (1,), changing((1, "x", -1), (2, "y", 1)))
    sink.close()
    assert not contents(outside), "the whole time was left out"


def test_rows_that_nobody_counted_are_no_changes(outside: Outside) -> None:
    sink = TableSink(outside.url, "out", mode="changes", change="n")
    with pytest.raises(PermanentError, match="changes"):
        sink.write("o", (0,), changing((1, "x", 2)))
    sink.close()


def test_tables_that_are_written_together_show_the_same_time(outside: Outside) -> None:
    both = TableSinks(
        {
            "left": TableSink(outside.url, "one"),
            "right": TableSink(outside.url, "other", mode="upsert", key="k"),
        }
    )
    both.attach("o", "store")
    both.write_together("o", (0,), {"left": keyed(k1="a"), "right": keyed(k1="a")})
    torn = Torn(keyed(k3="c", k4="d").arrow())
    with pytest.raises(Broken):
        both.write_together("o", (1,), {"left": keyed(k2="b"), "right": torn})
    assert contents(outside, "one") == contents(outside, "other") == Counter([(1, "a")])
    both.write_together("o", (1,), {"left": keyed(k2="b"), "right": keyed(k1="b")})
    both.write_together("o", (1,), {"left": keyed(k2="b"), "right": keyed(k1="b")})
    both.write_together("o", (2,), {"right": keyed(k9="z")})
    both.close()
    assert contents(outside, "one") == Counter([(1, "a"), (2, "b")])
    assert contents(outside, "other") == Counter([(1, "b"), (9, "z")])


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "replace"},
        {"mode": "upsert"},
        {"key": "k"},
        {"mode": "changes", "at_least_once": True},
        {"mode": "upsert", "key": "k", "at_least_once": True},
        {"replace": True, "shared": True},
    ],
)
def test_what_has_no_meaning_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        TableSink("sqlite://", "out", **options)


def test_tables_of_two_databases_are_not_written_together() -> None:
    with pytest.raises(ConfigurationError, match="one database"):
        TableSinks({"a": TableSink("sqlite:///a", "a"), "b": TableSink("sqlite:///b", "b")})
    with pytest.raises(ConfigurationError, match="one table"):
        TableSinks({"a": TableSink("sqlite:///a", "a"), "b": TableSink("sqlite:///a", "a")})
    with pytest.raises(ConfigurationError, match="exactly once"):
        TableSinks({"a": TableSink("sqlite:///a", "a", at_least_once=True)})


def test_a_database_that_may_keep_half_a_transaction_is_not_written_to() -> None:
    sink = TableSink("oracle://me:hush-hush@localhost/shop", "t")
    with pytest.raises(PermanentError, match="only PostgreSQL, SQLite, MariaDB and") as refused:
        sink.attach("out", "a store")
    assert "hush-hush" not in str(refused.value)
