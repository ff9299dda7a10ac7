"""Flows run through the real machine, in many orders of events, and do what they say."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.scale import scaled
from tests.unit.dataflow.ends import Sink, Source
from tests.unit.dataflow.frames import Frame, Row
from tests.unit.dataflow.running import Run

import falkirk as fk
from falkirk.core.errors import ExecutionError
from falkirk.core.times import Time
from falkirk.dataflow import Batch, Context, Dataflow, Processor, Stream

SEEDS = range(scaled(10))


def frame(columns: str, *rows: Sequence[Any]) -> Frame:
    """A frame of the given columns."""
    names = columns.split()
    return Frame(names, [dict(zip(names, row, strict=True)) for row in rows])


def words(*given: str) -> Frame:
    return frame("word", *((word,) for word in given))


def run(flow: Dataflow, seed: int, **epochs: Sequence[Frame | None]) -> dict[Time, list[Row]]:
    """What the sink ``out`` gets at each time, rows sorted."""
    shown = Run(flow.build(), epochs, seed).shown["out"]
    return {time: sorted(rows, key=repr) for time, rows in shown.items() if rows}


def two_sources() -> tuple[Dataflow, Stream, Stream]:
    flow = fk.Dataflow("two")
    return flow, flow.read(Source(), name="left"), flow.read(Source(), name="right")


@pytest.mark.parametrize("seed", SEEDS)
def test_running_totals_of_touched_groups(seed: int) -> None:
    flow = fk.Dataflow("counts")
    lines = flow.read(Source(), name="lines")
    lines.union(lines.transform(lambda rows: rows)).group_by("word").count().write(
        Sink(), name="out"
    )
    assert run(flow, seed, lines=[words("a", "b"), words("a"), words(), words("c")]) == {
        (0,): [{"word": "a", "count": 2}, {"word": "b", "count": 2}],
        (1,): [{"word": "a", "count": 4}],
        (3,): [{"word": "c", "count": 2}],
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_running_totals_of_every_group(seed: int) -> None:
    flow = fk.Dataflow("counts")
    lines = flow.read(Source(), name="lines")
    lines.group_by("word").count(every_group=True).write(Sink(), name="out")
    given = [words("a", "b"), None, words("a"), words()]
    assert run(flow, seed, lines=given) == {
        (0,): [{"word": "a", "count": 1}, {"word": "b", "count": 1}],
        (2,): [{"word": "a", "count": 2}, {"word": "b", "count": 1}],
        (3,): [{"word": "a", "count": 2}, {"word": "b", "count": 1}],
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_version_with_every_group_is_the_whole_table(seed: int) -> None:
    flow = fk.Dataflow("versions")
    slow = flow.read(Source(), name="slow")
    totals = slow.group_by("k").agg(total="sum(n)", mean="avg(n)", every_group=True)
    flow.read(Source(), name="fast").join_latest(totals, on="k").write(Sink(), name="out")
    given = [frame("k n", (1, 3)), frame("k n", (2, 5)), frame("k n", (2, 1))]
    shown = run(flow, seed, fast=[frame("k", (1,))] * 5, slow=given)
    assert all(rows == [{"k": 1, "total": 3, "mean": 3.0}] for rows in shown.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_every_function_is_merged_over_times(seed: int) -> None:
    flow = fk.Dataflow("aggregates")
    flow.read(Source(), name="rows").group_by("k").agg(
        total="sum(n)", least="min(n)", most="max(n)", n="count(n)", all="count(*)", mean="avg(n)"
    ).write(Sink(), name="out")
    epochs = [frame("k n", ("x", 1), ("x", None), ("y", None)), frame("k n", ("x", 4), ("x", 7))]
    assert run(flow, seed, rows=epochs) == {
        (0,): [
            {"k": "x", "total": 1, "least": 1, "most": 1, "n": 1, "all": 2, "mean": 1.0},
            {"k": "y", "total": None, "least": None, "most": None, "n": 0, "all": 1, "mean": None},
        ],
        (1,): [{"k": "x", "total": 12, "least": 1, "most": 7, "n": 3, "all": 4, "mean": 4.0}],
    }


def test_keys_may_have_any_name() -> None:
    flow = fk.Dataflow("names")
    flow.read(Source(), name="rows").group_by("part0").count("part1").write(Sink(), name="out")
    rows = frame("part0", ("x",), ("x",))
    assert run(flow, 0, rows=[rows]) == {(0,): [{"part0": "x", "part1": 2}]}


JOINS = {
    "inner": [{"k": 1, "a": "x", "b": "p"}],
    "left": [{"k": 1, "a": "x", "b": "p"}, {"k": 2, "a": "y", "b": None}],
    "right": [{"k": 1, "a": "x", "b": "p"}, {"k": 3, "a": None, "b": "q"}],
    "full": [
        {"k": 1, "a": "x", "b": "p"},
        {"k": 2, "a": "y", "b": None},
        {"k": 3, "a": None, "b": "q"},
    ],
    "semi": [{"k": 1, "a": "x"}],
    "anti": [{"k": 2, "a": "y"}],
}


@pytest.mark.parametrize("how", JOINS)
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_one_time_meet(how: str, seed: int) -> None:
    flow, left, right = two_sources()
    left.join(right, on="k", how=how).write(Sink(), name="out")
    a, b = frame("k a", (1, "x"), (2, "y")), frame("k b", (1, "p"), (3, "q"))
    shown = run(flow, seed, left=[a, a], right=[b, b])
    for time in ((0,), (1,)):
        assert sorted(shown[time], key=lambda row: row["k"]) == JOINS[how]


AFTER_THE_RIGHT_ENDS: dict[str, list[Row]] = {
    "inner": [],
    "left": [{"k": 1, "a": "x", "b": None}],
    "right": [],
    "full": [{"k": 1, "a": "x", "b": None}],
    "semi": [],
    "anti": [{"k": 1, "a": "x"}],
}


@pytest.mark.parametrize("how", AFTER_THE_RIGHT_ENDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_side_that_has_ended_has_no_rows_but_its_columns(how: str, seed: int) -> None:
    flow, left, right = two_sources()
    left.join(right, on="k", how=how).write(Sink(), name="out")
    a, b = frame("k a", (1, "x")), frame("k b", (1, "p"))
    shown = run(flow, seed, left=[a, a, a], right=[b])
    assert shown.get((1,), []) == AFTER_THE_RIGHT_ENDS[how]
    assert shown.get((2,), []) == AFTER_THE_RIGHT_ENDS[how]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_side_that_never_sent_anything_has_no_columns(seed: int) -> None:
    flow, left, right = two_sources()
    left.join(right, on="k", how="left").write(Sink(), name="out")
    with pytest.raises(ExecutionError, match=r"nothing has come on port 1 up to \(0,\)"):
        run(flow, seed, left=[frame("k a", (1, "x"))], right=[None])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_function_of_several_streams_sees_whole_times(seed: int) -> None:
    flow, left, right = two_sources()

    def sizes(*frames: Frame) -> Frame:
        return frame("sizes", ([len(each.rows) for each in frames],))

    left.union(left).transform(sizes, right).write(Sink(), name="out")
    shown = run(flow, seed, left=[words("a"), words("a", "b")], right=[words("c", "d", "e")])
    assert shown == {(0,): [{"sizes": [2, 3]}], (1,): [{"sizes": [4, 0]}]}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_whole_time_can_be_asked_for(seed: int) -> None:
    flow = fk.Dataflow("whole")
    rows = flow.read(Source(), name="rows")

    def size(given: Frame) -> Frame:
        return frame("size", (len(given.rows),))

    rows.union(rows).transform(size, whole=True).write(Sink(), name="out")
    assert run(flow, seed, rows=[words("a", "b")]) == {(0,): [{"size": 4}]}


def less_one(rows: Frame) -> Frame:
    return Frame(rows.columns, [{"n": row["n"] - 1} for row in rows.rows if row["n"] > 1])


@pytest.mark.parametrize("order", ["lex", "product"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_loop_ends_when_nothing_goes_around(seed: int, order: str) -> None:
    flow = fk.Dataflow("countdown")
    flow.read(Source(), name="n").iterate(
        lambda inner: (inner.transform(less_one), inner), order=order
    ).write(Sink(), name="out")
    shown = run(flow, seed, n=[frame("n", (3,)), frame("n", (1,)), frame("n")])
    assert shown == {(0,): [{"n": 1}, {"n": 2}, {"n": 3}], (1,): [{"n": 1}]}


@pytest.mark.parametrize("seed", SEEDS)
def test_rounds_can_be_bounded(seed: int) -> None:
    flow = fk.Dataflow("bounded")
    flow.read(Source(), name="n").iterate(
        lambda inner: (inner.transform(less_one), inner), rounds=2
    ).write(Sink(), name="out")
    assert run(flow, seed, n=[frame("n", (5,))]) == {(0,): [{"n": 4}, {"n": 5}]}


@pytest.mark.parametrize("seed", SEEDS)
def test_links_from_outside_are_followed_in_every_round(seed: int) -> None:
    flow = fk.Dataflow("reach")
    links = flow.read(Source(), name="links")

    def step(inner: Stream) -> Stream:
        return inner.join(links, on="at").select("to AS at")

    flow.read(Source(), name="start").iterate(step).write(Sink(), name="out")
    chain = [frame("at to", (1, 2), (2, 3), (3, 4)), frame("at to", (7, 8))]
    shown = run(flow, seed, start=[frame("at", (1,)), frame("at", (1,), (7,))], links=chain)
    assert shown == {(0,): [{"at": 2}, {"at": 3}, {"at": 4}], (1,): [{"at": 8}]}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stream_from_far_outside_is_there_in_inner_loops_too(seed: int) -> None:
    flow = fk.Dataflow("nested")
    links = flow.read(Source(), name="links")

    def deep(inner: Stream) -> Stream:
        return inner.join(links, on="at").select("to AS at")

    def wide(inner: Stream) -> tuple[Stream, Stream]:
        reached = inner.iterate(deep, name="deep")
        return reached.transform(lambda rows: rows), reached

    flow.read(Source(), name="start").iterate(wide, name="wide", rounds=2).write(Sink(), name="out")
    chain = frame("at to", (1, 2), (2, 3))
    shown = run(flow, seed, start=[frame("at", (1,))], links=[chain])
    # The first round reaches 2 and 3; the second starts from both and reaches 3 again.
    assert shown == {(0,): [{"at": 2}, {"at": 3}, {"at": 3}]}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stream_from_outside_joins_a_union_in_the_first_round(seed: int) -> None:
    flow = fk.Dataflow("union")
    extra = flow.read(Source(), name="extra")

    def body(inner: Stream) -> tuple[Stream, Stream]:
        both = inner.union(extra)
        return both.transform(less_one), both

    flow.read(Source(), name="n").iterate(body).write(Sink(), name="out")
    shown = run(flow, seed, n=[frame("n", (2,))], extra=[frame("n", (1,))])
    assert shown == {(0,): [{"n": 1}, {"n": 1}, {"n": 2}]}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fast_stream_meets_versions_of_a_slow_one_and_they_only_get_newer(seed: int) -> None:
    flow = fk.Dataflow("latest")
    model = flow.read(Source(), name="model")
    fast = flow.read(Source(), name="fast")
    fast.join_latest(model, on="k", how="left", otherwise={"v": "NULL"}).write(Sink(), name="out")
    asked = [frame("k", (1,))] * 6
    shown = run(flow, seed, fast=asked, model=[frame("k v", (1, v)) for v in range(4)])
    seen = [row["v"] for _, (row,) in sorted(shown.items())]
    assert len(seen) == 6
    known = [v for v in seen if v is not None]
    assert known == sorted(known)
    assert seen == [None] * (6 - len(known)) + known


def test_before_the_first_version_an_inner_join_is_empty() -> None:
    flow = fk.Dataflow("inner")
    model = flow.read(Source(), name="model")
    flow.read(Source(), name="fast").join_latest(model, on="k").write(Sink(), name="out")
    assert run(flow, 0, fast=[frame("k", (1,))], model=[]) == {}


def test_of_versions_at_one_time_the_last_is_the_newest() -> None:
    from falkirk.dataflow.operators.newest import JoinNewest

    versions: list[Any] = ["old", "new"]
    assert JoinNewest(["k"], "inner", {}).consolidate(None, versions) == "new"  # type: ignore[arg-type]


class Sorter(Processor):
    """Sends words with an a on port 0 and others on port 1."""

    stateless = True
    outputs = 2

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        rows = batch.arrow()
        for output, chosen in enumerate(("a", "b")):
            ctx.send(
                ctx.batch(words(*(r["word"] for r in rows if chosen in r["word"]))), None, output
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_output_ports_send_to_different_receivers(seed: int) -> None:
    flow = fk.Dataflow("ports")
    sorted_words = flow.read(Source(), name="lines").process(Sorter())
    sorted_words.port(1).write(Sink(), name="out")
    assert run(flow, seed, lines=[words("apple", "bee")]) == {(0,): [{"word": "bee"}]}
