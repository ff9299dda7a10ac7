"""Loops over collections: mutual recursion, bounds, loops in loops, and what they cost."""

from collections import Counter

import networkx as nx
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.changing import Multiset, check
from tests.spark.test_differential_graphs import SCHEMA, graph, random_graph, roots
from tests.spark.test_jobs import jobs_of

import falkirk as fk
from falkirk.core.errors import DefinitionError, ExecutionError
from falkirk.differential import Collection, collection, graphs
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered, Script

pytestmark = pytest.mark.spark


def step(nodes: Collection, edges: Collection) -> Collection:
    return nodes.map("node AS src").join(edges, "src").map("dst AS node")


def by_parity(edges: Multiset) -> tuple[Multiset, Multiset]:
    """The vertices to which ways with an even and with an odd number of edges lead."""
    doubled = nx.DiGraph()
    for a, b in graph(edges).edges():
        doubled.add_edge((a, 0), (b, 1))
        doubled.add_edge((a, 1), (b, 0))
    begun = [(0, 0), (5, 0)]
    doubled.add_nodes_from(begun)
    found = set(begun).union(*(nx.descendants(doubled, each) for each in begun))
    return tuple(Counter((n,) for n, p in found if p == parity) for parity in (0, 1))  # type: ignore[return-value]


def test_variables_that_depend_on_one_another(spark: SparkSession) -> None:
    changes = random_graph(8, 10, 6, seed=31)
    flow = fk.Dataflow("parity")
    edges, begun = changes.read(flow, "edges", SCHEMA), roots(flow, 10)
    with begun.loop(name="parity") as loop:
        even, odd = loop.variable(begun, name="even"), loop.variable(name="odd")
        is_even = step(odd.now, edges).concat(loop.enter(begun)).distinct()
        is_odd = step(even.now, edges).distinct()
        even.set(is_even)
        odd.set(is_odd)
        made = {"even": loop.leave(is_even), "odd": loop.leave(is_odd)}
    right = [by_parity(sums) for sums in changes.sums]
    wanted = {
        name: (("node",), [each[i] for each in right]) for i, name in enumerate(("even", "odd"))
    }
    check(spark, flow, made, wanted)


def collatz(start: int) -> int:
    count = 0
    while start != 1:
        start, count = start // 2 if start % 2 == 0 else 3 * start + 1, count + 1
    return count


def test_loops_in_loops_follow_changes(spark: SparkSession) -> None:
    """The inner loop halves as long as it can; the outer one adds what halving cannot do."""
    script = [[{"n": 6, "change": 1}], [{"n": 5, "change": 1}], [{"n": 6, "change": -1}], []]
    script[3] = [{"n": 8, "change": 2}, {"n": 5, "change": -1}]
    flow = fk.Dataflow("collatz")
    schema = pa.schema([("n", pa.int64()), ("change", pa.int64())])
    numbers = collection(flow.read(Script(script, schema), name="numbers"), "change")

    def halved(inner: Collection) -> Collection:
        again = inner.filter("n % 2 = 0").map("start", "n DIV 2 AS n", "steps + 1L AS steps")
        return again.concat(inner.filter("n % 2 = 1")).distinct()

    def odd(inner: Collection) -> Collection:
        small = inner.iterate(halved, name="halving")
        more = small.filter("n > 1").map("start", "3 * n + 1 AS n", "steps + 1L AS steps")
        return more.concat(small.filter("n = 1")).distinct()

    begun = numbers.map("n AS start", "n", "0L AS steps")
    made = begun.iterate(odd, name="odd").map("start", "steps")
    there = [{6}, {6, 5}, {5}, {8}]
    wanted = [Counter((start, collatz(start)) for start in each) for each in there]
    check(spark, flow, {"steps": made}, {"steps": (("start", "steps"), wanted)})


def counting(rounds: int | None, rounds_max: int) -> tuple[fk.Dataflow, Remembered]:
    flow, sink = fk.Dataflow("counting"), Remembered()
    numbers = collection(flow.read(Script([[{"n": 0}], [{"n": 10}]]), name="numbers"))
    more = numbers.iterate(
        lambda inner: inner.map("n + 1 AS n"), rounds=rounds, rounds_max=rounds_max, name="ever"
    )
    more.changes().write(sink, name="out")
    return flow, sink


def test_a_loop_that_never_ends_is_told_and_costs_no_data(spark: SparkSession) -> None:
    flow, sink = counting(None, 9)
    with pytest.raises(ExecutionError) as raised:
        run(flow, "memory:", spark, options=Options())
    for word in ("ever-around", "after 9 rounds", "rounds_max=", "test_differential_loops.py"):
        assert word in str(raised.value)
    assert sink.times == {}


def test_rounds_bound_a_loop(spark: SparkSession) -> None:
    flow, sink = counting(5, 9)
    run(flow, "memory:", spark, options=Options())
    assert sink.times == {(0,): [{"n": 5, "change": 1}], (1,): [{"n": 15, "change": 1}]}


def test_a_variable_that_is_never_set_is_refused() -> None:
    flow = fk.Dataflow("unset")
    numbers = collection(flow.read(Script([[{"n": 0}]]), name="numbers"))
    with (
        pytest.raises(DefinitionError, match=r"test_differential_loops.py:\d+: the variable"),
        numbers.loop() as loop,
    ):
        loop.variable(numbers)


def test_a_variable_is_set_once() -> None:
    flow = fk.Dataflow("twice")
    numbers = collection(flow.read(Script([[{"n": 0}]]), name="numbers"))
    with numbers.loop() as loop:
        variable = loop.variable(numbers)
        variable.set(variable.now)
        with pytest.raises(DefinitionError, match="set twice"):
            variable.set(variable.now)


def test_small_rounds_cost_no_jobs(spark: SparkSession) -> None:
    """One for the changes as they come in, one for the expression that orders the labels."""
    changes, sink = random_graph(10, 6, 6, seed=32), Remembered()
    flow = fk.Dataflow("components")
    edges = changes.read(flow, "edges", SCHEMA)
    graphs.connected_components(edges).changes().write(sink, name="out")
    with jobs_of(spark) as jobs:
        run(flow, "memory:", spark, options=Options())
    assert jobs[0] <= 2 * len(changes.script)
    assert len(sink.times) >= 4, "most epochs change something"
