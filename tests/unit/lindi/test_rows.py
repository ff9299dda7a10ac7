"""What is written with lindi, what is refused, and how the operators hang together."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.dataflow.ends import Sink, Source
from tests.unit.dataflow.frames import Frame
from tests.unit.dataflow.running import Run
from tests.unit.dataflow.test_running import frame

import falkirk as fk
from falkirk import lindi
from falkirk.core.errors import DefinitionError
from falkirk.dataflow import Dataflow
from falkirk.lindi.expressions import checked, read_ordering
from falkirk.lindi.tables import Made, Table


def start() -> tuple[Dataflow, lindi.Rows]:
    flow = fk.Dataflow("cases")
    return flow, lindi.rows(flow.read(Source(), name="in"))


STATELESS: dict[str, Callable[[lindi.Rows], lindi.Rows]] = {
    "select": lambda r: r.select("a", lambda f: f.b),
    "where": lambda r: r.where(lambda f: f.a),
    "flat_map": lambda r: r.flat_map(lambda row: [row], "a INT"),
    "map_batches": lambda r: r.map_batches(lambda batch: batch, "a INT"),
    "repartition": lambda r: r.repartition(2, "a"),
    "union": lambda r: r.union(r.select("a")),
    "join_table": lambda r: r.join_table(lambda session: session.table("t"), on="a"),
    "whole": lambda r: r.whole(),
    "join": lambda r: r.join(r.select("a"), on="a"),
    "distinct": lambda r: r.distinct(),
    "agg": lambda r: r.group_by("a").agg(n="median(b)"),
    "count": lambda r: r.group_by("a").count(),
    "apply": lambda r: r.group_by("a").apply(lambda table: table, "a INT"),
    "order_by": lambda r: r.order_by("a DESC"),
    "limit": lambda r: r.limit(3, "a"),
}


@pytest.mark.parametrize("method", STATELESS)
def test_an_operator_keeps_nothing_and_only_extends_a_plan(method: str) -> None:
    flow, rows = start()
    made = STATELESS[method](rows)
    node = flow.build().nodes[made.stream.name]
    assert node.name == method
    assert node.policy == fk.ephemeral()
    assert node.processor is not None
    assert node.processor.inline
    assert "test_rows.py:" in node.location


@pytest.mark.parametrize("method", STATELESS)
def test_the_policy_of_a_region_and_names_are_heeded(method: str) -> None:
    flow, rows = start()
    with flow.policy(fk.batch()):
        made = STATELESS[method](rows)
    assert flow.build().nodes[made.stream.name].policy == fk.batch()


def test_a_while_loop_has_a_condition_a_body_and_a_way_out() -> None:
    flow, rows = start()
    inside: list[Any] = []

    def body(inner: lindi.Rows) -> lindi.Rows:
        inside.append(inner)
        return inner.select("a - 1 AS a", name="less")

    rows.iterate_while("a > 0", body, name="down").write(Sink(), name="out")
    built = flow.build()
    assert [node.depth for node in built.nodes.values()] == [1, 2, 2, 2, 1, 1]
    assert [each.source for each in built.nodes["down"].inputs] == ["in", "less"]
    assert built.nodes["down-out"].inputs[0].output == 1
    line = "    one job: (in, [down-condition] → less) → down → down-condition"
    assert line in flow.explain().splitlines()
    with pytest.raises(DefinitionError, match="which is closed"):
        inside[0].select("a")


REFUSED: dict[str, tuple[Callable[[lindi.Rows], Any], str]] = {
    "no stream": (lambda r: lindi.rows(r), "rows are those of a stream"),  # type: ignore[arg-type]
    "no rows": (lambda r: r.union(r.stream), "union takes rows"),  # type: ignore[arg-type]
    "no rows to join": (lambda r: r.join(r.stream, on="a"), "join takes rows"),  # type: ignore[arg-type]
    "nothing to select": (lambda r: r.select(), "select needs at least 1 expression"),
    "blank text": (lambda r: r.select(" "), "select takes SQL text, a Column, or a function"),
    "a number": (lambda r: r.where(3), "where takes SQL text"),
    "a class": (lambda r: r.where(int), "where takes SQL text"),
    "no function": (lambda r: r.flat_map("a", "a INT"), "flat_map needs a function"),  # type: ignore[arg-type]
    "no columns": (lambda r: r.flat_map(lambda row: [], ""), "flat_map needs the columns"),
    "no schema": (lambda r: r.map_batches(len, None), "map_batches needs the columns"),
    "no partitions": (lambda r: r.repartition(0), "repartition takes one partition or more"),
    "no rows left": (lambda r: r.limit(0), "limit takes one row or more, not 0"),
    "a truth": (lambda r: r.limit(True), "limit takes one row or more, not True"),
    "no order": (lambda r: r.order_by(), "order_by needs at least 1 expression"),
    "no aggregate": (lambda r: r.group_by("a").agg(), "agg needs at least 1 expression"),
    "apply to all": (lambda r: r.group_by().apply(len, "a INT"), "apply needs keys"),
    "kind of join": (lambda r: r.join(r, "a", "cross"), "join has no kind 'cross'"),
    "kind of table": (
        lambda r: r.join_table(len, "a", "full"),
        "join_table has no kind 'full': inner, left, semi, anti",
    ),
    "no epochs": (lambda r: r.window(0), "window takes one epoch or more"),
    "gaps": (lambda r: r.window(2, every=3), "would leave rows out: every= is at most 2"),
    "window in a loop": (
        lambda r: r.iterate_while("a", lambda inner: inner.window(2), name="turn"),
        "is inside the loop 'turn': windows are over epochs",
    ),
    "no rounds": (
        lambda r: r.iterate_while("a", lambda inner: inner, rounds_max=0),
        "iterate_while takes one round or more",
    ),
    "no body": (lambda r: r.iterate_while("a", "b"), "iterate_while needs a function"),  # type: ignore[arg-type]
    "no result": (
        lambda r: r.iterate_while("a", lambda inner: None, name="turn"),  # type: ignore[arg-type, return-value]
        "the body of the loop 'turn' returns what it has made of the rows",
    ),
    "result from outside": (
        lambda r: r.iterate_while("a", lambda inner: r, name="turn"),
        "the body of the loop 'turn' returns what it has made of the rows",
    ),
    "a loop in sequence": (
        lambda r: lindi.rows(r.stream.in_sequence()).iterate_while("a", lambda inner: inner),
        "has sequence numbers: a loop needs epochs",
    ),
    "whole times in sequence": (
        lambda r: lindi.rows(r.stream.in_sequence()).distinct(),
        "distinct needs epochs, and 'in_sequence' has sequence numbers",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_where_it_was_written(what: str) -> None:
    flow, rows = start()
    case, message = REFUSED[what]
    before = set(flow.nodes)
    with pytest.raises(DefinitionError) as refused:
        case(rows)
    text = str(refused.value)
    assert re.match(r"\[FK100\] tests/unit/lindi/test_rows\.py:\d+: ", text), text
    assert message in text
    assert set(flow.nodes) - before <= {"in_sequence"}


def test_whole_times_are_seen_whole_in_any_order() -> None:
    flow, rows = start()
    seen: list[list[int]] = []

    def noted(given: Frame) -> Frame:
        seen.append(sorted(row["n"] for row in given.rows))
        return given

    both = rows.union(rows.select("n"), rows.where("n"))
    both.whole().transform(noted).write(Sink(), name="out")
    for seed in range(5):
        seen.clear()
        Run(flow.build(), {"in": [frame("n", (1,)), frame("n", (2,), (0,))]}, seed)
        assert sorted(seen) == [[0, 0, 2, 2, 2], [1, 1, 1]]


def test_orderings_are_read_as_spark_does() -> None:
    assert read_ordering("n") == ("n", "asc", "first")
    assert read_ordering("n desc") == ("n", "desc", "last")
    assert read_ordering("f(a, b)  DESC  NULLS FIRST ") == ("f(a, b)", "desc", "first")
    assert read_ordering("n NULLS LAST") == ("n", "asc", "last")
    assert read_ordering("description") == ("description", "asc", "first")


def test_a_table_is_made_once_for_each_session() -> None:
    sessions: list[Any] = []

    def make(session: Any) -> Any:
        sessions.append(session)
        return len(sessions)

    def keep(session: Any, frame: Any) -> Made:
        return Made(session, frame, 10 * frame)

    table, one, two = Table(make, keep), object(), object()
    found = [table.frame(session, one_task=True) for session in (one, one, two, two)]
    assert found == [10, 10, 20, 20]
    assert table.frame(two, one_task=False) == 2
    assert sessions == [one, two]


def test_expressions_are_taken_as_they_are() -> None:
    def function(frame: Any) -> Any: ...

    assert checked(("a", function), "select") == ("a", function)


def test_rows_lead_back_to_their_stream() -> None:
    _, rows = start()
    assert rows.stream.name == "in"
    assert repr(rows) == "Rows('in' of 'cases')"
    assert [name for name in lindi.__all__ if not hasattr(lindi, name)] == []
