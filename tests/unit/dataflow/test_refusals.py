"""What cannot work is refused at the user's own line, with what is wrong and what to do."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.dataflow.ends import Pair, Sink, Source

import falkirk as fk
from falkirk.core.errors import DefinitionError
from falkirk.dataflow import Dataflow, Limit, Processor, Stream

Case = Callable[[Dataflow, Stream], object]


class Keeper(Processor):
    """Keeps state."""


class Waiter(Processor):
    """Waits until times are complete."""

    def on_notify(self, ctx: Any, time: Any) -> None: ...


class Own(Processor):
    """Keeps its state in itself."""

    opaque = True


def in_a_loop(write: Callable[[Stream, Stream], Any]) -> Case:
    """A case that is written in the body of a loop; it gets the inner and the outer stream."""
    return lambda f, s: s.iterate(lambda inner: write(inner, s))


def kept_from_a_loop(f: Dataflow, s: Stream) -> object:
    kept: list[Stream] = []
    s.iterate(lambda inner: kept.append(inner) or inner, name="round")
    return kept[0].where("a")


def two_loops_at_once(f: Dataflow, s: Stream) -> object:
    def body(first: Stream) -> Stream:
        return s.iterate(lambda second: second.union(first), name="second")

    return s.iterate(body, name="first")


def several_sources(f: Dataflow, s: Stream) -> object:
    return s.union(f.read(Source(), name="other")).latest(s)


def region(policy: Any, write: Case) -> Case:
    def case(f: Dataflow, s: Stream) -> object:
        with f.policy(policy):
            return write(f, s)

    return case


CASES: dict[str, tuple[Case, str]] = {
    # Names.
    "a duplicate": (
        lambda f, s: s.where("a", name="in"),
        r"the name 'in' is taken since .*test_refusals\.py:\d+",
    ),
    "a duplicate of a derived name": (
        lambda f, s: s.where("a").write(Sink(), name="where"),
        r"the name 'where' is taken since .*: name that one, or choose another one here",
    ),
    "an empty name": (lambda f, s: s.where("a", name=""), "'' is no name"),
    "a name of an edge": (lambda f, s: s.where("a", name="a>b"), "'a>b' is no name: some text"),
    "a name that is none": (lambda f, s: s.where("a", name=3), "3 is no name"),  # type: ignore[arg-type]
    "a flow without a name": (lambda f, s: fk.Dataflow(""), "a flow has a name, not ''"),
    # Sources and sinks.
    "no source": (lambda f, s: f.read("data/in"), "'data/in' is no source"),  # type: ignore[arg-type]
    "the class of a source": (lambda f, s: f.read(Source), "is no source"),  # type: ignore[arg-type]
    "no sink": (lambda f, s: s.write("data/out"), "'data/out' is no sink"),  # type: ignore[arg-type]
    "the class of a sink": (lambda f, s: s.write(Sink), "is no sink"),  # type: ignore[arg-type]
    "an empty epoch": (lambda f, s: f.read(Source(), limit=0), "reads nothing"),
    "an epoch of no files": (lambda f, s: f.read(Source(), limit=Limit(files=0)), "reads nothing"),
    "rows of files": (
        lambda f, s: f.read(fk.Files("in"), limit=10),
        "Files cannot limit an epoch by rows: it counts files and bytes",
    ),
    "a latency by what nobody counts": (
        lambda f, s: f.read(fk.Numbers(), limit=fk.adaptive(1, unit="bytes")),
        "Numbers cannot limit an epoch by bytes: it counts rows",
    ),
    "a sink in a loop": (
        in_a_loop(lambda inner, _: inner.write(Sink())),
        "only what comes out of a loop can be written",
    ),
    # Expressions.
    "an empty select": (lambda f, s: s.select(), "select needs at least one expression"),
    "a column object": (lambda f, s: s.select(3), "takes SQL expressions as text, not 3"),  # type: ignore[arg-type]
    "a blank condition": (lambda f, s: s.where(" "), "where takes SQL expressions as text"),
    "no function": (lambda f, s: s.transform("upper"), "transform needs a function, not 'upper'"),  # type: ignore[arg-type]
    # Several streams.
    "a lonely union": (lambda f, s: s.union(), "a union needs another stream"),
    "no stream": (lambda f, s: s.union("b"), "union takes streams, not 'b'"),  # type: ignore[arg-type]
    "another flow": (
        lambda f, s: s.union(fk.Dataflow("other").read(Source(), name="far")),
        "'far' belongs to the flow 'other' and 'in' to 'cases'",
    ),
    "an unknown join": (
        lambda f, s: s.join(s, on="a", how="outer"),
        "join has no kind 'outer': inner, left, right, full, semi, anti",
    ),
    "a join by nothing": (lambda f, s: s.join(s, on=[]), "one or more names of columns, not []"),
    "a join by numbers": (lambda f, s: s.join(s, on=3), "names of columns, not 3"),  # type: ignore[arg-type]
    # Groups.
    "no key": (lambda f, s: s.group_by(), "group_by needs a key"),
    "a key without a name": (lambda f, s: s.group_by("date(at)"), "'date(at)' is no key"),
    "a key twice": (lambda f, s: s.group_by("a", "b AS A"), "has the key 'a' twice"),
    "no aggregate": (lambda f, s: s.group_by("a").agg(), "agg needs an aggregate"),
    "a key as a result": (
        lambda f, s: s.group_by("a").count("A"),
        "'A' is the name of a key or of another result already",
    ),
    "a result twice": (
        lambda f, s: s.group_by("a").agg(n="sum(b)", N="sum(c)"),
        "'N' is the name of a key or of another result already",
    ),
    "arithmetic": (
        lambda f, s: s.group_by("a").agg(x="sum(a) + sum(b)"),
        "x='sum(a) + sum(b)' is no aggregate: one call of sum, count, min, max, avg",
    ),
    "another function": (
        lambda f, s: s.group_by("a").agg(x="median(b)"),
        "results of 'median' cannot be merged over times",
    ),
    "distinct": (
        lambda f, s: s.group_by("a").agg(x="count(DISTINCT b)"),
        "distinct values cannot be merged",
    ),
    "a sum of everything": (lambda f, s: s.group_by("a").agg(x="sum(*)"), "needs an expression"),
    "no text": (lambda f, s: s.group_by("a").agg(x=3), "x=3 is no aggregate"),  # type: ignore[arg-type]
    # Processors.
    "the class of a processor": (
        lambda f, s: s.process(Keeper),  # type: ignore[arg-type]
        "process needs an instance, not the class, of a subclass of fk.Processor",
    ),
    "no processor": (lambda f, s: s.process(print), "process needs an instance of a subclass"),  # type: ignore[arg-type]
    "no such port": (lambda f, s: s.process(Keeper()).port(1), "has the output ports 0 to 0"),
    "one object twice": (
        lambda f, s: [s.process(own, name=n) for own in [Own()] for n in "ab"] and f.build(),
        "'b' is the same object as 'a' .* and Own keeps its state in itself",
    ),
    # Loops.
    "after the loop": (
        kept_from_a_loop,
        "'round' is a stream inside the loop 'round', which is closed: return it from the body",
    ),
    "two loops at once": (
        two_loops_at_once,
        "'first' is in the loop 'first', which is not around 'second'",
    ),
    "a body that is none": (lambda f, s: s.iterate(s), "iterate needs a function"),  # type: ignore[arg-type]
    "a body without a result": (
        in_a_loop(lambda inner, _: None),
        "the body of the loop 'loop' returns a stream, or a pair of streams",
    ),
    "a body with three results": (
        in_a_loop(lambda inner, _: (inner, inner, inner)),
        "returns a stream, or a pair of streams",
    ),
    "a result from outside": (
        in_a_loop(lambda inner, outer: (inner, outer)),
        "returned 'in', which is not a stream of that loop",
    ),
    "an unknown order": (
        lambda f, s: s.iterate(lambda inner: inner, order="random"),
        "a loop has the order 'lex' or 'product', not 'random'",
    ),
    "no round": (lambda f, s: s.iterate(lambda inner: inner, rounds=0), "at least one round"),
    "building in a loop": (
        lambda f, s: s.iterate(lambda inner: f.build() and inner),
        "cannot be built inside the body of a loop",
    ),
    # The newest version.
    "versions of a loop": (
        in_a_loop(lambda inner, outer: outer.latest(inner)),
        "only what comes out has versions",
    ),
    "versions beside two sources": (several_sources, "comes from 2 sources (in, other)"),
    "an unknown join with versions": (
        lambda f, s: s.join_latest(s, on="a", how="full"),
        "join_latest has no kind 'full': inner, left",
    ),
    "a left join without columns": (
        lambda f, s: s.join_latest(s, on="a", how="left"),
        "join_latest needs otherwise= with how='left'",
    ),
    "versions at the epochs of windows": (
        lambda f, s: s.in_sequence().windows(count=2).latest(s),
        "'windows' has the epochs of the windows 'windows': versions follow the epochs of a source",
    ),
    # Sequences.
    "a processor that waits": (
        lambda f, s: s.in_sequence().process(Waiter()),
        "Waiter waits until times are complete (on_notify), and sequence numbers never are:"
        " windows(count=n) makes epochs of them",
    ),
    "totals in sequence": (
        lambda f, s: s.in_sequence().group_by("a").count(),
        "RunningAggregate waits until times are complete (on_notify)",
    ),
    "a join in sequence": (
        lambda f, s: s.in_sequence(name="x").join(s.in_sequence(), on="a"),
        "join needs epochs, and 'x' has sequence numbers: windows(count=n) makes epochs of them",
    ),
    "whole times in sequence": (
        lambda f, s: s.in_sequence().transform(lambda x: x, whole=True),
        "transform needs epochs, and 'in_sequence' has sequence numbers",
    ),
    "a loop in sequence": (
        lambda f, s: s.in_sequence().iterate(lambda inner: inner),
        "iterate needs epochs",
    ),
    "a sink in sequence": (lambda f, s: s.in_sequence().write(Sink()), "a sink needs epochs"),
    "versions in sequence": (lambda f, s: s.in_sequence().latest(s), "latest needs epochs"),
    "versions of a sequence": (lambda f, s: s.latest(s.in_sequence()), "latest needs epochs"),
    "a join with versions in sequence": (
        lambda f, s: s.in_sequence().join_latest(s, on="a"),
        "latest needs epochs",
    ),
    "numbers and epochs": (
        lambda f, s: s.in_sequence().union(s),
        "'in_sequence' has sequence numbers and 'in' has epochs, so they cannot meet",
    ),
    "numbers and epochs in a join": (
        lambda f, s: s.join(s.in_sequence(), on="a"),
        "'in_sequence' has sequence numbers and 'in' has epochs, so they cannot meet",
    ),
    "numbers twice": (
        lambda f, s: s.in_sequence().in_sequence(),
        "'in_sequence' has sequence numbers already",
    ),
    "numbers in a loop": (
        in_a_loop(lambda inner, _: inner.in_sequence()),
        "only what comes out of a loop can be numbered",
    ),
    "windows of epochs": (lambda f, s: s.windows(count=2), "'in' has epochs already"),
    "windows of nothing": (
        lambda f, s: s.in_sequence().windows(count=0),
        "a window has at least one message of one stream, not 0",
    ),
    "windows of a part": (
        lambda f, s: s.in_sequence().windows(count=1.5),  # type: ignore[arg-type]
        "a window has at least one message of one stream, not 1.5",
    ),
    "windows without a rule": (
        lambda f, s: s.in_sequence().windows(),
        "windows needs count= or a processor that closes them, and not both",
    ),
    "windows with two rules": (
        lambda f, s: s.in_sequence().windows(Keeper(), count=2),
        "windows needs count= or a processor that closes them, and not both",
    ),
    "windows of a class": (
        lambda f, s: s.in_sequence().windows(Keeper),  # type: ignore[arg-type]
        "windows needs an instance, not the class, of a subclass of fk.Processor",
    ),
    "windows that wait": (
        lambda f, s: s.in_sequence().windows(Waiter()),
        "Waiter waits until times are complete",
    ),
    "an ephemeral count": (
        lambda f, s: s.in_sequence(policy=fk.ephemeral()),
        "ephemeral does not save how many messages were numbered: lazy, eager, batch and history",
    ),
    "a snapshot of a count": (
        lambda f, s: s.in_sequence(policy=fk.snapshot()),
        "snapshot does not save how many messages were numbered",
    ),
    "no policy of a count": (
        lambda f, s: s.in_sequence(policy="lazy"),  # type: ignore[arg-type]
        "'lazy' is no policy",
    ),
    "no policy of windows": (
        lambda f, s: s.in_sequence().windows(count=1, policy="lazy"),  # type: ignore[arg-type]
        "'lazy' is no policy",
    ),
    "numbers at least once": (
        lambda f, s: s.in_sequence().process(Keeper(), policy=fk.at_least_once()),
        "at_least_once would send messages again under other numbers",
    ),
    "every group of what": (
        lambda f, s: s.group_by("a").count(every_group="yes"),  # type: ignore[arg-type]
        "every_group is True or False, not 'yes'",
    ),
    # Policies.
    "no policy": (lambda f, s: s.where("a", policy="lazy"), "'lazy' is no policy: write fk.lazy()"),  # type: ignore[arg-type]
    "no policy of a region": (
        region("lazy", lambda f, s: s.where("a")),
        "'lazy' is no policy",
    ),
    "state that is ephemeral": (
        lambda f, s: s.group_by("a").count(policy=fk.ephemeral()),
        "RunningAggregate keeps state between times, which ephemeral does not save",
    ),
    "state in a batch": (
        lambda f, s: s.process(Keeper(), policy=fk.batch()),
        "Keeper keeps state between times, which batch does not save",
    ),
    "state in an ephemeral region": (
        region(fk.ephemeral(), lambda f, s: s.group_by("a").count()),
        "it is the region's policy, so give this one a policy of its own",
    ),
    "an opaque history": (
        lambda f, s: s.process(Own(), policy=fk.history()),
        "Own keeps its state in itself: lazy or eager save it, history does not",
    ),
    "a snapshot of epochs": (
        lambda f, s: s.where("a", policy=fk.snapshot()),
        "snapshot needs sequence numbers",
    ),
    "an ephemeral source": (
        lambda f, s: f.read(Source(), policy=fk.ephemeral()),
        "ephemeral does not fit a source",
    ),
    "positions of what is gone": (
        lambda f, s: f.read(Source(replayable=False), policy=fk.lazy()),
        "this source cannot be read again",
    ),
    "an ephemeral sink": (
        lambda f, s: s.write(Sink(), policy=fk.ephemeral()),
        "ephemeral does not fit a sink",
    ),
    "prompt to a sink that leaves out": (
        lambda f, s: s.write(Sink(), policy=fk.at_least_once()),
        "at_least_once may show a time again with further rows",
    ),
    "together without a place": (
        lambda f, s: f.write_together({"a": s}, Pair()),
        "the streams ['a'] are written together, and the sink has places for ['a', 'b']",
    ),
    "together to a sink for one": (
        lambda f, s: f.write_together({"a": s}, Sink()),  # type: ignore[arg-type]
        "takes one stream",
    ),
    "together from a loop": (
        in_a_loop(lambda inner, s: s.flow.write_together({"a": inner, "b": s}, Pair())),
        "only what comes out of a loop can be written",
    ),
    "a promise that a sink cannot keep": (
        lambda f, s: s.write(Sink(exactly_once=False), policy=fk.lazy()),
        "lazy promises exactly once, but this sink cannot recognise",
    ),
    "a checkpoint every nothing": (
        lambda f, s: fk.lazy(every=0),
        "a checkpoint every 0 times makes no sense: at least 1",
    ),
    "a snapshot every nothing": (
        lambda f, s: fk.snapshot(every=0),
        "a checkpoint every 0 times makes no sense: at least 1",
    ),
    "rounds before they are over": (
        lambda f, s: fk.lazy(round_seconds=-1),
        "rounds -1 seconds apart make no sense",
    ),
    "a log of no edge": (
        lambda f, s: s.where("a", policy=fk.ephemeral().logging("x")) and f.build(),  # type: ignore[arg-type]
        "'where' is to log 'x', which is none of its edges: none",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_where_it_was_written(name: str) -> None:
    case, message = CASES[name]
    flow = fk.Dataflow("cases")
    start = flow.read(Source(), name="in")
    with pytest.raises(DefinitionError) as refused:
        case(flow, start)
    text = str(refused.value)
    assert re.match(r"\[FK100\] tests/unit/dataflow/test_refusals\.py:\d+: ", text), text
    assert message in text or re.search(message, text), text


def test_the_line_is_that_of_the_call() -> None:
    flow = fk.Dataflow("line")
    start = flow.read(Source())
    frame = inspect.currentframe()
    assert frame is not None
    with pytest.raises(DefinitionError) as refused:
        start.group_by("a").count(policy=fk.ephemeral())
    assert f"test_refusals.py:{frame.f_lineno - 1}: " in str(refused.value)


def test_what_is_found_when_built_names_the_line_of_the_node() -> None:
    flow = fk.Dataflow("built")
    start = flow.read(Source())
    frame = inspect.currentframe()
    assert frame is not None
    start.where("a", policy=fk.ephemeral().logging("x"))  # type: ignore[arg-type]
    line = frame.f_lineno - 1
    with pytest.raises(DefinitionError, match=rf"test_refusals\.py:{line}: 'where' is to log"):
        flow.build()


def test_a_flow_needs_an_input() -> None:
    with pytest.raises(DefinitionError, match="'empty' reads nothing: begin with"):
        fk.Dataflow("empty").build()
