"""Every operator of the differential library, after every epoch, against recomputation."""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.changing import Changing, Multiset, Row, check

import falkirk as fk
from falkirk.core.errors import DefinitionError, ExecutionError
from falkirk.differential import Collection, collection, reduce, traces
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered, Script

pytestmark = pytest.mark.spark

FORMS = {"small": (Options(divided_bytes_min=0), 24), "cached": (Options(small_bytes_max=0), 3)}
"""Batches on the driver and batches on executors, which take longer; and how many epochs."""

LEFT = pa.schema([("k", pa.string()), ("v", pa.int64()), ("change", pa.int64())])
RIGHT = pa.schema([("k", pa.string()), ("w", pa.int64()), ("change", pa.int64())])
KEYS = ["a", "b", "c", None]


def draw(rng: Any) -> Row:
    return rng.choice(KEYS), rng.choice([1, 2, 3, 4, None])


# Each operator: what it makes, its columns, and the same by hand.


def groups(left: Multiset) -> dict[Any, Multiset]:
    found: dict[Any, Multiset] = {}
    for (k, v), count in left.items():
        found.setdefault(k, Counter())[k, v] += count
    return found


def by_group(make: Callable[[Any, list[Any]], list[Row]]) -> Callable[..., Multiset]:
    """The rows that ``make`` gives for each key and all its values, repeated ones repeated."""

    def whole(left: Multiset, right: Multiset) -> Multiset:
        found: Multiset = Counter()
        for key, rows in groups(left).items():
            found.update(make(key, [v for (_, v), count in rows.items() for _ in range(count)]))
        return found

    return whole


def known(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def joined(left: Multiset, right: Multiset) -> Multiset:
    found: Multiset = Counter()
    for ((k, v), n), ((other, w), m) in ((a, b) for a in left.items() for b in right.items()):
        if k == other and k is not None:
            found[k, v, w] += n * m
    return found


def present(right: Multiset) -> set[Any]:
    return {k for k, _ in right} - {None}


OPERATORS: dict[str, tuple[Callable[..., Collection], list[str], Callable[..., Multiset]]] = {
    "map": (
        lambda a, b: a.map("k", "v * 10 AS v"),
        ["k", "v"],
        lambda a, b: mapped(a, lambda k, v: (k, v and v * 10)),
    ),
    "pick": (
        lambda a, b: a.map("v + 1 AS next", "k AS key", "7 AS seven"),
        ["next", "key", "seven"],
        lambda a, b: mapped(a, lambda k, v: (v and v + 1, k, 7)),
    ),
    "filter": (
        lambda a, b: a.filter("v > 2"),
        ["k", "v"],
        lambda a, b: Counter({r: n for r, n in a.items() if (r[1] or 0) > 2}),
    ),
    "flat_map": (
        lambda a, b: a.flat_map(lambda f: f.selectExpr("k", "explode(array(v, 9)) v", "_weight")),
        ["k", "v"],
        lambda a, b: a + mapped(a, lambda k, v: (k, 9)),
    ),
    "concat": (lambda a, b: a.concat(b.map("k", "w AS v")), ["k", "v"], lambda a, b: a + b),
    "negate": (
        lambda a, b: a.concat(a).concat(a.negate()),
        ["k", "v"],
        lambda a, b: a,
    ),
    "join": (lambda a, b: a.join(b, "k"), ["k", "v", "w"], joined),
    "semijoin": (
        lambda a, b: a.semijoin(b, on="k"),
        ["k", "v"],
        lambda a, b: Counter({r: n for r, n in a.items() if r[0] in present(b)}),
    ),
    "antijoin": (
        lambda a, b: a.antijoin(b, on="k"),
        ["k", "v"],
        lambda a, b: Counter({r: n for r, n in a.items() if r[0] not in present(b)}),
    ),
    "distinct": (lambda a, b: a.distinct(), ["k", "v"], lambda a, b: Counter(set(a))),
    "threshold": (
        lambda a, b: a.threshold(lambda n: n // 2),
        ["k", "v"],
        lambda a, b: +Counter({r: n // 2 for r, n in a.items()}),
    ),
    "count": (
        lambda a, b: a.group_by("k").count("n"),
        ["k", "n"],
        by_group(lambda k, vs: [(k, len(vs))]),
    ),
    "sum": (
        lambda a, b: a.group_by("k").sum(total="v", cents="CAST(v AS DECIMAL(9, 2)) / 2"),
        ["k", "total", "cents"],
        by_group(lambda k, vs: [(k, *sums(known(vs)))]),
    ),
    "min": (
        lambda a, b: a.group_by("k").min("v"),
        ["k", "v"],
        by_group(lambda k, vs: [(k, min(known(vs), default=None))]),
    ),
    "max": (
        lambda a, b: a.group_by("k").max("v"),
        ["k", "v"],
        by_group(lambda k, vs: [(k, max(known(vs), default=None))]),
    ),
    "top": (
        lambda a, b: a.group_by("k").top(2, "v DESC NULLS FIRST"),
        ["k", "v"],
        by_group(lambda k, vs: [(k, v) for v in top(vs)]),
    ),
    "reduce": (
        lambda a, b: a.group_by("k").reduce(span, pa.schema([("low", pa.int64())])),
        ["k", "low"],
        by_group(lambda k, vs: [(k, -len(vs))] if len(vs) > 1 else []),
    ),
}


def mapped(left: Multiset, function: Callable[..., Row]) -> Multiset:
    found: Multiset = Counter()
    for row, count in left.items():
        found[function(*row)] += count
    return found


def sums(values: list[int]) -> tuple[Any, Any]:
    if not values:
        return None, None
    return sum(values), Decimal(sum(values)) / 2


def top(values: list[Any]) -> list[Any]:
    nothing = [value for value in values if value is None]
    return [*nothing, *sorted(known(values), reverse=True)][:2]


def span(keys: dict[str, Any], rows: list[tuple[dict[str, Any], int]]) -> list[dict[str, Any]]:
    many = sum(count for _, count in rows)
    return [{"low": -many}] if many > 1 else []


@pytest.mark.parametrize("form", FORMS)
def test_operators_follow_changes(spark: SparkSession, form: str) -> None:
    options, epochs = FORMS[form]
    left = Changing(["k", "v"], draw, epochs, 6, seed=11)
    right = Changing(["k", "w"], draw, epochs, 4, seed=12)
    flow = fk.Dataflow("operators")
    a, b = left.read(flow, "left", LEFT), right.read(flow, "right", RIGHT)
    made = {name: make(a, b) for name, (make, _, _) in OPERATORS.items()}
    wanted = {
        name: (columns, [whole(x, y) for x, y in zip(left.sums, right.sums, strict=True)])
        for name, (_, columns, whole) in OPERATORS.items()
    }
    check(spark, flow, made, wanted, options)


def spread_out(rng: Any) -> Row:
    """Rows of many keys."""
    return rng.choice([*"abcdefghijklmnopqrstuvwxyz", None]), rng.choice([*range(40), None])


LARGE_AND_SMALL = ("join", "min", "reduce")
"""Operators that keep rows; the others are made of the same processors."""

PAIRS: tuple[Callable[..., Collection], list[str], Callable[..., Multiset]] = (
    lambda a, b: a.group_by("v", "k").count("n"),
    ["v", "k", "n"],
    lambda a, b: Counter((v, k, count) for (k, v), count in a.items()),
)


@pytest.mark.parametrize("fetched", [traces.FETCHED_KEYS_MAX, 1])
def test_small_changes_meet_a_large_past(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, fetched: int
) -> None:
    """The first epoch rests on executors, the changes on the driver; the keys that they touch are
    fetched, or worked on by executors if they are many."""
    monkeypatch.setattr(reduce, "FETCHED_KEYS_MAX", fetched)
    left = Changing(["k", "v"], spread_out, 2, 9, seed=13, first=400)
    right = Changing(["k", "w"], spread_out, 2, 9, seed=14, first=300)
    flow = fk.Dataflow("large")
    a, b = left.read(flow, "left", LEFT), right.read(flow, "right", RIGHT)
    chosen = {"pairs": PAIRS, **{name: OPERATORS[name] for name in LARGE_AND_SMALL}}
    made = {name: make(a, b) for name, (make, _, _) in chosen.items()}
    wanted = {
        name: (columns, [whole(x, y) for x, y in zip(left.sums, right.sums, strict=True)])
        for name, (_, columns, whole) in chosen.items()
    }
    check(spark, flow, made, wanted, Options(small_bytes_max=4096))


# Bad input.


def failing(spark: SparkSession, make: Callable[[Collection], Collection]) -> str:
    flow = fk.Dataflow("failing")
    rows = collection(flow.read(Script([[{"k": "a", "v": 1}]]), name="rows"))
    make(rows).changes().write(Remembered(), name="out")
    with pytest.raises(ExecutionError) as raised:
        run(flow, "memory:", spark, options=Options())
    return str(raised.value)


def broken(keys: Any, rows: Any) -> Any:
    raise ValueError("no such luck")


BAD: dict[str, tuple[Callable[[Collection], Collection], list[str]]] = {
    "a column that is not there": (
        lambda c: c.group_by("nope").min("v", name="least"),
        ["'least'", "test_differential_operators.py", "'nope'", "k, v"],
    ),
    "a column of a join that is not there": (
        lambda c: c.join(c.map("k", "v AS w"), "nope", name="both"),
        ["'both'", "'nope'"],
    ),
    "the same column on both sides": (
        lambda c: c.join(c, "k", name="both"),
        ["'both'", "both sides", "'v'", "map"],
    ),
    "a reducer that raises": (
        lambda c: c.group_by("k").reduce(broken, pa.schema([("x", pa.int64())]), name="mine"),
        ["'mine'", "broken raised ValueError: no such luck", "the group was {'k': 'a'}", "tors.py"],
    ),
    "a reducer that gives something else": (
        lambda c: c.group_by("k").reduce(lambda k, r: [{"y": 1}], pa.schema([("x", pa.int64())])),
        ["columns x", "{'y': 1}"],
    ),
    "a sum that rounds": (
        lambda c: c.group_by("k").sum(total="v * 0.5e0"),
        ["total sums a double", "DECIMAL"],
    ),
    "a threshold that is no number": (
        lambda c: c.threshold(lambda n: "many"),  # type: ignore[arg-type, return-value]
        ["whole number", "'many'"],
    ),
    "a sum of text": (
        lambda c: c.group_by("v").sum(total="k"),
        ["'sum'", "total sums a string", "only whole numbers"],
    ),
    "weights that are lost": (
        lambda c: c.flat_map(lambda frame: frame.select("k"), name="mine").distinct(),
        ["'mine'", "test_differential_operators.py", "the columns k, without '_weight'"],
    ),
    "a column to look up that is not there": (
        lambda c: c.antijoin(c, "nope"),
        ["'semijoin-keys'", "test_differential_operators.py", "nope"],
    ),
    "a join by columns of different kinds": (
        lambda c: c.join(c.map("v AS k", "k AS w"), "k", name="both"),
        ["'both'", "'k' as string and as int64", "CAST"],
    ),
    "columns that differ": (
        lambda c: c.concat(c.map("k", "'x' AS v")).distinct(),
        ["'v'", "int64", "string", "CAST"],
    ),
}


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        (pa.int64(), None, ["test_differential_operators.py", "'change' is null"]),
        (pa.float64(), 1.5, ["'rows-changes'", "whole number, not a double", "CAST"]),
    ],
)
def test_changes_that_say_nothing_are_told(
    spark: SparkSession, kind: Any, change: Any, words: list[str]
) -> None:
    flow = fk.Dataflow("failing")
    schema = pa.schema([("k", pa.string()), ("change", kind)])
    source = Script([[{"k": "a", "change": change}]], schema)
    collection(flow.read(source, name="rows"), "change").changes().write(Remembered(), name="out")
    with pytest.raises(ExecutionError) as raised:
        run(flow, "memory:", spark, options=Options())
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize("form", FORMS)
def test_versions_are_the_whole_collection_whenever_it_changes(
    spark: SparkSession, form: str
) -> None:
    options, epochs = FORMS[form]
    left, sink = Changing(("k", "v"), draw, epochs, 4, seed=31), Remembered()
    flow = fk.Dataflow("versions")
    left.read(flow, "left", LEFT).versions().write(sink, name="out")
    run(flow, "memory:", spark, options=options)
    before: Multiset = Counter()
    for epoch, rows in enumerate(left.sums):
        found = sink.times.get((epoch,))
        if rows == before:
            assert found is None, "nothing has changed"
        else:
            assert Counter((row["k"], row["v"]) for row in found or []) == rows
        before = rows


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_told_with_the_operator_and_the_place(spark: SparkSession, what: str) -> None:
    make, words = BAD[what]
    told = failing(spark, make)
    for word in words:
        assert word in told


def test_what_cannot_work_is_refused_when_it_is_written() -> None:
    flow = fk.Dataflow("refused")
    rows = collection(flow.read(Script([[{"k": 1}]]), name="rows"))
    for wrong in (
        lambda: rows.concat(),
        lambda: rows.map(),
        lambda: rows.group_by(),
        lambda: rows.group_by("k").sum(),
        lambda: rows.group_by("k").top(0, "k"),
        lambda: rows.group_by("k").top("2", "k"),  # type: ignore[arg-type]
        lambda: rows.group_by("k").min("k"),
        lambda: rows.group_by("k").max(3),  # type: ignore[arg-type]
        lambda: rows.group_by("k").count("k"),
        lambda: rows.group_by("k").sum(k="k + 1"),
        lambda: rows.group_by("k").sum(total=1),  # type: ignore[arg-type]
        lambda: rows.group_by("k").reduce(broken, "n BIGINT"),
        lambda: rows.group_by("k").reduce(broken, pa.schema([("k", pa.int64())])),
        lambda: rows.delayed("k"),
        lambda: rows.iterate(lambda inner: rows),
        lambda: rows.iterate(lambda inner: inner, rounds=0),
        lambda: rows.join("other", "k"),  # type: ignore[arg-type]
        lambda: collection(rows),  # type: ignore[arg-type]
    ):
        before = dict(flow.nodes)
        with pytest.raises(DefinitionError, match=r"test_differential_operators.py:\d+"):
            wrong()
        assert flow.nodes == before, "nothing was written"
